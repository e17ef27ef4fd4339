#include "tracefs/events/events_folder.hpp"

#include <algorithm>
#include <set>

#include "tracefs/context.hpp"
#include "tracefs/events/expected_system.hpp"
#include "tracefs/events/ftrace_folder.hpp"
#include "tracefs/events/group_enable.hpp"
#include "tracefs/events/headers.hpp"
#include "tracefs/events/system_folder.hpp"

namespace landtrace::tracefs {

EventsFolder::EventsFolder(InstancePtr instance)
    : instance_(std::move(instance)), ftrace_(make_ftrace_folder(instance_)) {}

Result<std::vector<Folder::Entry>> EventsFolder::list() {
  std::vector<Entry> entries{{"enable", false}, {"header_event", false}, {"header_page", false}, {"ftrace", true}};
  std::set<std::string_view> systems;
  for (const domain::Event* const event : instance_->context.domain.events().all()) systems.insert(event->system);
  if (expects_events(*instance_)) systems.insert(domain::kSystem);
  for (const std::string_view system : systems) entries.push_back({std::string(system), true});
  return entries;
}

Result<std::shared_ptr<Node>> EventsFolder::find(std::string_view name) {
  if (name == "enable") return std::make_shared<GroupEnable>(instance_, Selection{});
  if (name == "header_page") return std::make_shared<HeaderPage>(instance_);
  if (name == "header_event") return std::make_shared<HeaderEvent>();
  if (name == "ftrace") return ftrace_;
  if (name == domain::kSystem && expects_events(*instance_)) return make_expected_system(instance_);
  const auto events = instance_->context.domain.events().all();
  const auto has_it = [&](const domain::Event* event) { return event->system == name; };
  if (std::none_of(events.begin(), events.end(), has_it)) return fail(ENOENT, "no such system");
  return std::make_shared<SystemFolder>(instance_, std::string(name));
}

}  // namespace landtrace::tracefs
