// events
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class EventsFolder : public Folder {
 public:
  explicit EventsFolder(InstancePtr instance);

  [[nodiscard]] unsigned mode() const override { return 0755; }
  Result<std::vector<Entry>> list() override;
  Result<std::shared_ptr<Node>> find(std::string_view name) override;

 private:
  InstancePtr instance_;
  std::shared_ptr<Folder> ftrace_;
};

}  // namespace landtrace::tracefs
