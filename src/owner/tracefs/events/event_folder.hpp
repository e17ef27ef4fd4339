// events/SYSTEM/EVENT
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventFolder : public Folder {
 public:
  explicit EventFolder(EventRef event) : event_(std::move(event)) {}

  [[nodiscard]] unsigned mode() const override { return 0755; }
  Result<std::vector<Entry>> list() override;
  Result<std::shared_ptr<Node>> find(std::string_view name) override;

 private:
  EventRef event_;
};

}  // namespace landtrace::tracefs
