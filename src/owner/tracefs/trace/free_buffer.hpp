// free_buffer: closing it (by the end of the program, say) gives the buffer's memory back. With the option
// disable_on_free it stops tracing first.
#pragma once

#include "tracefs/node.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class FreeBuffer : public File {
 public:
  explicit FreeBuffer(std::shared_ptr<TraceInstance> instance) : instance_(std::move(instance)) {}

  [[nodiscard]] unsigned mode() const override { return 0200; }
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

}  // namespace landtrace::tracefs
