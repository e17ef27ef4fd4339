// The names, mappings and ends of threads that an event is to tell of besides its samples (attr.comm, mmap, task): a
// dummy event of the kernel's, opened for the same threads, which the program does not see. Where the kernel refuses
// it, what the domain knows of its programs is told in its place (OutputRing).
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>

#include "base/fd.hpp"

namespace landtrace::perf {

class Tracker {
 public:
  Tracker() = default;
  // None where the attr wants nothing of the kind, or the kernel refuses it.
  Tracker(const perf_event_attr& attr, std::int32_t pid, std::int32_t cpu);

  explicit operator bool() const { return static_cast<bool>(event_); }
  [[nodiscard]] int fd() const { return event_.get(); }
  void enable(bool on) const;

 private:
  Fd event_;
};

// Whose records a kernel's are to be taken for: what stands behind them has its id.
struct Renumbering {
  std::uint64_t sample_type;
  std::uint64_t id;
};
void renumber(std::span<std::byte> record, const Renumbering& to);
// When it was, in its event's clock, where the record says it.
std::optional<std::uint64_t> time_of(std::span<const std::byte> record, std::uint64_t sample_type);

}  // namespace landtrace::perf
