// per_cpu/cpuN/trace_pipe_raw and snapshot_raw: events as pages of the kernel's ring buffer.
//
// A read returns at most one page. Pages are addressed by offset, so that splice() can go through the page cache of a
// mount. A page that was handed out lately can be read again.
#pragma once

#include "tracefs/trace/trace_file.hpp"

namespace landtrace::tracefs {

class RawPipe : public File {
 public:
  RawPipe(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu, Which which)
      : instance_(std::move(instance)), cpu_(cpu), which_(which) {}

  [[nodiscard]] unsigned mode() const override { return 0440; }
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;
  [[nodiscard]] bool is_paged() const override { return true; }

 private:
  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
  Which which_;
};

}  // namespace landtrace::tracefs
