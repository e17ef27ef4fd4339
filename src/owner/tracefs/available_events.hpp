// available_events: the events that set_event takes.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class AvailableEvents : public TextFile {
 public:
  explicit AvailableEvents(InstancePtr instance) : TextFile(0440), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;

 private:
  InstancePtr instance_;
};

}  // namespace landtrace::tracefs
