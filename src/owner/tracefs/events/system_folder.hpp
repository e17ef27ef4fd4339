// events/SYSTEM, for as long as it has events.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class SystemFolder : public Folder {
 public:
  SystemFolder(InstancePtr instance, std::string system) : instance_(std::move(instance)), system_(std::move(system)) {}

  [[nodiscard]] unsigned mode() const override { return 0755; }
  Result<std::vector<Entry>> list() override;
  Result<std::shared_ptr<Node>> find(std::string_view name) override;

 private:
  InstancePtr instance_;
  std::string system_;
};

}  // namespace landtrace::tracefs
