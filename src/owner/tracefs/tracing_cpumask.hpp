// tracing_cpumask: a set of CPUs.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class TracingCpumask : public TextFile {
 public:
  explicit TracingCpumask(InstancePtr instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override { return instance_->cpus.text() + '\n'; }
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  InstancePtr instance_;
};

}  // namespace landtrace::tracefs
