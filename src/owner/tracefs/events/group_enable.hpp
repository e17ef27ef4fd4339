// events/enable and events/SYSTEM/enable: many events at once. Reads 0, 1, or X where some are enabled and some are
// not.
#pragma once

#include "tracefs/events/selection.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class GroupEnable : public TextFile {
 public:
  GroupEnable(InstancePtr instance, Selection events)
      : TextFile(0640), instance_(std::move(instance)), events_(std::move(events)) {}

 protected:
  Result<void> check_open(const Caller& caller, int flags) override;
  Result<std::string> text() override;
  Result<std::size_t> store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest) override;

 private:
  InstancePtr instance_;
  Selection events_;
};

}  // namespace landtrace::tracefs
