// What the verifier says of programs in tests.
#pragma once

#include "bpf/test_code.hpp"
#include "bpf/test_run.hpp"
#include "verifier/verify.hpp"

namespace landtrace::verifier {

// Maps by their numbers.
enum : int { kCounts, kValues, kRing, kPerCpu, kStacks, kReadOnly };

inline const std::vector<bpf_objects::MapWish>& test_wishes() {
  static const std::vector<bpf_objects::MapWish> wishes = {
      {bpf::kHash, 4, 8, 16, 0},       {bpf::kArray, 4, 16, 4, 0},       {bpf::kRingbuf, 0, 0, 4096, 0},
      {bpf::kPercpuHash, 4, 8, 16, 0}, {bpf::kStackTrace, 4, 80, 16, 0}, {bpf::kArray, 4, 16, 1, BPF_F_RDONLY_PROG},
  };
  return wishes;
}

inline Verdict verdict_of(const bpf::code::Code& code, unsigned log_level = 0,
                          bpf::Context context = bpf::Context::kEntry) {
  std::vector<bpf::MapLayout> layouts;
  for (const bpf_objects::MapWish& wish : test_wishes())
    layouts.push_back(*bpf_objects::shape_map(wish, bpf::kTestCpus));
  return verify(code, layouts, context, log_level);
}

}  // namespace landtrace::verifier
