// The clock in which an instance shows its events (trace_clock). Records always carry the domain's raw clock; this
// converts it.
//
//   local global perf mono   CLOCK_MONOTONIC
//   mono_raw boot tai        the system's clocks of these names, read beside the raw clock since they were chosen
//   uptime                   hundredths of a second of CLOCK_MONOTONIC (the kernel counts from its boot, too)
//   counter x86-tsc          the raw clock itself: like the kernel's counter it puts events in order, but it skips
//                            numbers
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arch/clock_line.hpp"
#include "arch/trace_clocks.hpp"
#include "base/result.hpp"

namespace landtrace::buffer {

class TraceClock {
 public:
  // `monotonic` must outlive it.
  explicit TraceClock(arch::ClockLine& monotonic) : monotonic_(monotonic) {}

  // EINVAL: there is no such clock. Events that were recorded before must not be shown in the new clock.
  Result<void> select(std::string_view name);
  // All names, the chosen one in brackets.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string_view name() const { return chosen_->name; }
  // Whether it shows nanoseconds.
  [[nodiscard]] bool in_ns() const { return chosen_->is_in_ns(); }

  // Call it before times are shown.
  void sample();
  [[nodiscard]] std::uint64_t shown(std::uint64_t raw) const {
    if (chosen_line_) return chosen_line_->to_ns(raw);
    return chosen_->is_raw() ? raw : monotonic_.to_ns(raw) / chosen_->unit_ns;
  }
  [[nodiscard]] std::uint64_t now() const { return shown(arch::read_raw_clock(monotonic_.raw_clock())); }

 private:
  arch::ClockLine& monotonic_;
  const arch::TraceClock* chosen_ = arch::kTraceClocks;
  std::optional<arch::ClockLine> chosen_line_;
};

}  // namespace landtrace::buffer
