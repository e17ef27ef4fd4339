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
  void set_cpus(std::uint32_t cpus) { cpus_.resize(cpus); }
  // An event of this CPU has come, and so many were lost before it.
  void add(std::uint32_t cpu, std::uint64_t lost) {
    if (cpu >= cpus_.size()) return;
    cpus_[cpu].told = output::lost_together(cpus_[cpu].told, lost);
    ++cpus_[cpu].given;
  }
  // What another one was told.
  void add(const LossCount& other) {
    for (std::size_t cpu = 0; cpu < std::min(cpus_.size(), other.cpus_.size()); ++cpu) {
      cpus_[cpu].told = output::lost_together(cpus_[cpu].told, other.cpus_[cpu].told);
      cpus_[cpu].given += other.cpus_[cpu].given;
    }
  }
  // What was lost behind a CPU's last event. Of a recorder that was killed also what it was about to write.
  [[nodiscard]] std::uint64_t rest(std::uint32_t cpu, const output::CpuStats& stats, bool was_killed) const {
    if (cpu >= cpus_.size()) return 0;
    const auto& [told, given] = cpus_[cpu];
    const std::uint64_t never_came = was_killed ? stats.never_came(given) : 0;
    const std::uint64_t lost = output::lost_together(output::lost_together(stats.overrun, stats.dropped), never_came);
    return lost > told ? lost - told : 0;
  }

 private:
  // On a line of its own: threads count beside each other, each in an object of its own.
  struct alignas(64) OfCpu {
    std::uint64_t told = 0;
    std::uint64_t given = 0;  // events
  };
  std::vector<OfCpu> cpus_;
};

}  // namespace landtrace::reader
