// What is missing in a recording: told before events, and what only the counters tell in the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"

namespace landtrace::reader {

class LossCount {
 public:
  void set_cpus(std::uint32_t cpus) {
    told_.resize(cpus);
    given_.resize(cpus);
  }
  // An event of this CPU has come, and so many were lost before it.
  void add(std::uint32_t cpu, std::uint64_t lost) {
    if (cpu >= told_.size()) return;
    told_[cpu] = sum(told_[cpu], lost);
    ++given_[cpu];
  }
  // What another one was told.
  void add(const LossCount& other) {
    for (std::size_t cpu = 0; cpu < std::min(told_.size(), other.told_.size()); ++cpu) {
      told_[cpu] = sum(told_[cpu], other.told_[cpu]);
      given_[cpu] += other.given_[cpu];
    }
  }
  // What was lost behind a CPU's last event. Of a recorder that was killed also what it was about to write.
  [[nodiscard]] std::uint64_t rest(std::uint32_t cpu, const output::CpuStats& stats, bool was_killed) const {
    if (cpu >= told_.size()) return 0;
    const std::uint64_t never_came = was_killed ? stats.never_came(given_[cpu]) : 0;
    const std::uint64_t lost = sum(sum(stats.overrun, stats.dropped), never_came);
    return lost > told_[cpu] ? lost - told_[cpu] : 0;
  }

 private:
  static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return a > output::kLostUnknown - b ? output::kLostUnknown : a + b;
  }

  std::vector<std::uint64_t> told_;   // by CPU
  std::vector<std::uint64_t> given_;  // events, by CPU
};

}  // namespace landtrace::reader
