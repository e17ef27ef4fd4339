// The times of samples: raw times of the domain in the clock that an event asked for.
#pragma once

#include <linux/perf_event.h>

#include <map>
#include <memory>
#include <optional>

#include "arch/clock_line.hpp"

namespace landtrace::perf {

// One clock.
class SampleClock {
 public:
  SampleClock(arch::RawClock raw, clockid_t shown) : line_(std::in_place, raw, shown) {}
  // The kernel's for its own perf events: by what it says in the page of one, or else as it is read there; nullptr
  // where it has no event for us.
  static std::unique_ptr<SampleClock> of_kernel(arch::RawClock raw);

  [[nodiscard]] std::uint64_t to_ns(std::uint64_t raw) const {
    if (line_) return line_->to_ns(raw);
    const std::uint64_t whole = raw >> shift_;
    const std::uint64_t rest = raw & ((std::uint64_t{1} << shift_) - 1);
    return zero_ + whole * factor_ + (rest * factor_ >> shift_);
  }
  // Call it now and then, after the records whose times are wanted were read.
  void sample() {
    if (line_) line_->sample();
  }

 private:
  SampleClock() = default;
  bool read_page();

  std::optional<arch::ClockLine> line_;
  std::uint64_t zero_ = 0;
  std::uint32_t factor_ = 0;
  std::uint16_t shift_ = 0;
};

class SampleClocks {
 public:
  explicit SampleClocks(arch::RawClock raw) : raw_(raw) {}

  // The one that the attr asks for; else perf's own, so that times are those of the kernel's events in the same
  // recording; where that is not known, CLOCK_MONOTONIC. EINVAL: there is no such clock.
  std::shared_ptr<SampleClock> find(const perf_event_attr& attr);
  void sample() {
    for (auto& [id, clock] : clocks_) clock->sample();
  }
  [[nodiscard]] arch::RawClock raw() const { return raw_; }

 private:
  static constexpr clockid_t kOfKernel = -1;

  arch::RawClock raw_;
  std::map<clockid_t, std::shared_ptr<SampleClock>> clocks_;
};

}  // namespace landtrace::perf
