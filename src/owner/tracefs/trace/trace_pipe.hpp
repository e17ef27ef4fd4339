// trace_pipe, of all CPUs and of one: events as text, each read once.
#pragma once

#include "tracefs/trace/trace_instance.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class TracePipe : public File {
 public:
  TracePipe(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu) : instance_(std::move(instance)), cpu_(cpu) {}

  [[nodiscard]] unsigned mode() const override { return 0440; }
  // EBUSY: another reader has it open, or one that reads the same CPU.
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;
  [[nodiscard]] bool is_stream() const override { return true; }

 private:
  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
};

}  // namespace landtrace::tracefs
