// set_event: the events that the instance listens to. A write takes one word:
//   SYSTEM:EVENT   that event; a part that is empty or * stands for all
//   NAME           the events of that name, and those of the system of that name
//   !…             stops listening to them
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class SetEvent : public TextFile {
 public:
  explicit SetEvent(InstancePtr instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest) override;
  Result<void> truncate(const Caller& caller) override;

 private:
  InstancePtr instance_;
};

}  // namespace landtrace::tracefs
