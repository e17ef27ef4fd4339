#include "tracefs/events/system_folder.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/event_folder.hpp"
#include "tracefs/events/group_enable.hpp"
#include "tracefs/events/system_filter.hpp"

namespace landtrace::tracefs {

Result<std::vector<Folder::Entry>> SystemFolder::list() {
  std::vector<Entry> entries{{"enable", false}, {"filter", false}};
  for (const domain::Event* const event : select(*instance_, {system_, {}, {}})) entries.push_back({event->name, true});
  if (entries.size() == 2) return fail(ENOENT, "the system has no event");
  return entries;
}

Result<std::shared_ptr<Node>> SystemFolder::find(std::string_view name) {
  // As in the kernel, these files hide an event of the same name.
  if (name == "enable") return std::make_shared<GroupEnable>(instance_, Selection{system_, {}, {}});
  if (name == "filter") return std::make_shared<SystemFilter>(instance_, Selection{system_, {}, {}});
  const domain::Event* const event = instance_->context.domain.events().find(system_, name);
  if (event == nullptr) return fail(ENOENT, "no such event");
  return std::make_shared<EventFolder>(EventRef(instance_, *event));
}

}  // namespace landtrace::tracefs
