// trace, snapshot, and those of one CPU: what is in the buffer, as text.
#pragma once

#include "tracefs/trace/trace_instance.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

enum class Which : std::uint8_t { kMain, kSnapshot };

class TraceFile : public File {
 public:
  TraceFile(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu, Which which)
      : instance_(std::move(instance)), cpu_(cpu), which_(which) {}

  [[nodiscard]] unsigned mode() const override { return 0640; }
  // Truncating `trace` empties the buffer, or a CPU's.
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
  Which which_;
};

}  // namespace landtrace::tracefs
