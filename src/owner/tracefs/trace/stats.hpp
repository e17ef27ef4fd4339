// per_cpu/cpuN/stats
#pragma once

#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class Stats : public TextFile {
 public:
  Stats(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu)
      : TextFile(0440), instance_(std::move(instance)), cpu_(cpu) {}

 protected:
  Result<std::string> text() override;

 private:
  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
};

}  // namespace landtrace::tracefs
