// A seccomp filter, a program of classic BPF, run for a system call of which not all is known: the arguments that are
// addresses, say. So it may answer in more than one way.
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace landtrace::attach {

using SeccompFilter = std::vector<sock_filter>;

struct SeccompCall {
  std::uint32_t number = 0;
  std::array<std::optional<std::uint64_t>, 6> arguments{};
};

// All that it may answer, SECCOMP_RET_… with their data. Of what the system would not take as a filter, that the
// process is ended.
std::set<std::uint32_t> answers_of(const SeccompFilter& filter, const SeccompCall& call);

}  // namespace landtrace::attach
