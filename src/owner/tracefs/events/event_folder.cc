#include "tracefs/events/event_folder.hpp"

#include <algorithm>

#include "tracefs/events/event_enable.hpp"
#include "tracefs/events/event_filter.hpp"
#include "tracefs/events/event_format.hpp"
#include "tracefs/events/event_hist.hpp"
#include "tracefs/events/event_id.hpp"
#include "tracefs/events/event_inject.hpp"
#include "tracefs/events/event_trigger.hpp"

namespace landtrace::tracefs {
namespace {

template <typename T>
std::shared_ptr<Node> make(const EventRef& event) {
  return std::make_shared<T>(event);
}

struct Maker {
  std::string_view name;
  std::shared_ptr<Node> (*make)(const EventRef&);
};
constexpr Maker kFiles[] = {{"enable", make<EventEnable>},  {"filter", make<EventFilter>},
                            {"format", make<EventFormat>},  {"hist", make<EventHist>},
                            {"id", make<EventId>},          {"inject", make<EventInject>},
                            {"trigger", make<EventTrigger>}};

}  // namespace

Result<std::vector<Folder::Entry>> EventFolder::list() {
  LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
  std::vector<Entry> entries;
  for (const Maker& file : kFiles) entries.push_back({std::string(file.name), false});
  return entries;
}

Result<std::shared_ptr<Node>> EventFolder::find(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kFiles), std::end(kFiles), [&](const Maker& f) { return f.name == name; });
  if (found == std::end(kFiles) || !event_.get()) return fail(ENOENT, "no such file");
  return found->make(event_);
}

}  // namespace landtrace::tracefs
