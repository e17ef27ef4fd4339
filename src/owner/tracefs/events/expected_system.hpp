// events/user_events while the domain has no event at all. Programs look for folders with an `enable` file, and give up
// where there are none (libtracefs); but whoever reads may start before the programs that register events.
#pragma once

#include "tracefs/events/selection.hpp"
#include "tracefs/list_folder.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

// Whether that folder is there.
bool expects_events(const InstanceState& instance);

std::shared_ptr<Folder> make_expected_system(const InstancePtr& instance);

// Whether the instance will listen to user_events as they register.
class ExpectedEnable : public TextFile {
 public:
  explicit ExpectedEnable(InstancePtr instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  InstancePtr instance_;
};

}  // namespace landtrace::tracefs
