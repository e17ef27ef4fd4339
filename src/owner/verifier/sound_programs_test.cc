// Whatever program the verifier accepts runs to its end without a fault, and gives back what it holds: tried with
// programs that are made at random of what programs usually consist of.
#include <gtest/gtest.h>

#include <random>

#include "verifier/test_programs.hpp"

namespace landtrace::verifier {
namespace {

TEST(Verifier, WhatItAcceptsRunsWithoutAFault) {
  ProgramWriter writer(1);
  const bpf::TestMaps maps(test_wishes());
  int accepted = 0;
  for (int i = 0; i < 60'000; ++i) {
    const Code code = writer.write();
    const Verdict verdict = verify(code, maps.layouts, bpf::Context::kEntry, 0);
    if (!verdict.accepted) continue;
    ++accepted;
    const bpf::TestProgram program(maps.layouts, code, verdict.frames);
    for (int k = 0; k < 4; ++k) {
      // As many bytes as the verifier says that there must be, and no more.
      std::string event(verdict.context_end > 8 ? verdict.context_end - 8 : 0, '\0');
      for (char& byte : event)
        byte = static_cast<char>(writer.below(3) == 0 ? writer.below(2) * 255 : static_cast<int>(writer()));
      bpf::TestPlace place;
      program.run(maps, place, event);
      ASSERT_EQ(maps.figures().faults, 0u) << text_of(code) << verify(code, maps.layouts, bpf::Context::kEntry, 2).log;
      ASSERT_EQ(maps.figures().exceeded, 0u) << text_of(code);
    }
    bpf::RecordRing(maps.data, maps.layouts[kRing]).consume([](const std::byte*, std::uint32_t) {});
    ASSERT_FALSE(bpf::RecordRing(maps.data, maps.layouts[kRing]).has_data()) << "a record is held\n" << text_of(code);
  }
  EXPECT_GT(accepted, 2'000);
}

// Programs of any bytes neither break it nor take it long.
TEST(Verifier, AnyBytesGetAVerdict) {
  std::mt19937_64 random(9);
  const bpf::TestMaps maps(test_wishes());
  for (int i = 0; i < 20'000; ++i) {
    bpf::code::Code code(1 + random() % 40);
    for (Instruction& one : code) {
      const std::uint64_t bytes = random();
      std::memcpy(&one, &bytes, sizeof one);
      if (random() % 2 == 0) one.off = static_cast<std::int16_t>(one.off % 8);
    }
    if (random() % 2 == 0) code.back() = leave();
    const Verdict verdict = verify(code, maps.layouts, bpf::Context::kEntry, 1);
    EXPECT_TRUE(verdict.accepted || !verdict.reason.empty());
  }
}

}  // namespace
}  // namespace landtrace::verifier
