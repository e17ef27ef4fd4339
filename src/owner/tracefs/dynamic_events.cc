#include "tracefs/dynamic_events.hpp"

#include <algorithm>

#include "domain/status.hpp"
#include "language/words.hpp"
#include "tracefs/command_lines.hpp"
#include "tracefs/events/filter_errors.hpp"
#include "tracefs/remove_all.hpp"
#include "tracefs/synthetic_events.hpp"

namespace landtrace::tracefs {
namespace {

struct Removal {
  std::optional<std::string_view> system;  // nullopt: any
  std::string_view name;
  std::string fields;
  std::vector<std::string_view> words;  // of `fields`
};

Result<Removal> parse_removal(std::string_view command) {
  const auto words = language::split_words(command);
  const std::string_view target = words[0];
  const auto colon = target.find(':');
  if (colon == std::string_view::npos || (target[0] == '-' && colon != 1)) {
    return fail(EINVAL, "want -:NAME, or !u:NAME");
  }
  Removal removal;
  removal.name = target.substr(colon + 1);
  const auto slash = removal.name.find('/');
  if (slash != std::string_view::npos) {
    removal.system = removal.name.substr(0, slash);
    removal.name.remove_prefix(slash + 1);
  } else if (removal.name.empty()) {
    return fail(EINVAL, "an event's name was expected");
  }
  removal.words.assign(words.begin() + 1, words.end());
  for (std::size_t i = 1; i < words.size(); ++i) removal.fields.append(i == 1 ? "" : " ").append(words[i]);
  if (removal.fields.size() > 1 && removal.fields.ends_with(';')) removal.fields.pop_back();
  return removal;
}

// "-:GROUP/" means every probe of the group. The event that it is attached to follows, and its first arguments.
bool is_meant_event_probe(const domain::Event& event, const Removal& removal) {
  if (!removal.name.empty() && event.name != removal.name) return false;
  if (removal.words.empty()) return true;
  auto shown = language::split_words(event.text);  // "e:GROUP/NAME SYSTEM.EVENT ARGUMENT…"
  shown.erase(shown.begin());
  std::string base(removal.words[0]);
  if (const auto slash = base.find('/'); slash != std::string::npos) base[slash] = '.';
  return removal.words.size() <= shown.size() && base == shown[0] &&
         std::equal(removal.words.begin() + 1, removal.words.end(), shown.begin() + 1);
}

// Kernels before 6.4 take a name alone for the event, whatever its fields.
bool is_meant(const domain::Event& event, const Removal& removal, abi::Version abi) {
  const bool is_in_system = !removal.system || event.system == *removal.system;
  if (event.flavour() == event::Flavour::kSynthetic) return event.name == removal.name && is_in_system;
  if (event.flavour() == event::Flavour::kEventProbe) return is_in_system && is_meant_event_probe(event, removal);
  const bool name_is_enough = abi == abi::Version::k6_1 && removal.fields.empty();
  return event.declaration.name == removal.name && is_in_system &&
         (name_is_enough || fields_text(event.declaration) == removal.fields);
}

}  // namespace

Result<std::string> DynamicEvents::text() { return domain::dynamic_events_text(context_.domain.events()); }

Result<std::size_t> DynamicEvents::store(const Caller& caller, std::string_view bytes) {
  return run_lines(bytes, [&](std::string_view line) { return run(caller, line); });
}

Result<void> DynamicEvents::run(const Caller& caller, std::string_view line) {
  if (line.starts_with('-') || line.starts_with('!')) return remove(caller, line);
  const std::string_view command = skip_spaces(line);
  if (command.empty()) return {};
  if (command.starts_with("s:"))
    return define_synthetic(context_, caller, line, language::split_dynamic_synthetic(line));
  if (language::EventProbeCommand::is_one(line)) return make_event_probe(caller, line);
  if (!line.starts_with("u:")) return fail(EINVAL, "want u:NAME FIELDS, s:NAME FIELDS or e:NAME SYSTEM.EVENT");
  return make(caller, skip_spaces(line.substr(2)));
}

Result<void> DynamicEvents::make(const Caller& caller, std::string_view definition) {
  LT_TRY(const std::uint32_t slot,
         context_.domain.registrar().register_native(definition, domain::kPersist, caller.who.uid));
  context_.domain.events().drop_reference(slot);
  return {};
}

Result<void> DynamicEvents::make_event_probe(const Caller& caller, std::string_view line) {
  const auto made = context_.rules.event_probes().define(line, caller.who.uid);
  if (made) return {};
  const rules::RefusedEventProbe& refused = made.error();
  const InstancePtr top = context_.state_of(context_.domain.top());
  if (refused.filter) {
    std::ignore = refuse_filter(*top, refused.expression, *refused.filter, line.rfind(refused.expression));
    return fail(EINVAL, "the filter is refused");
  }
  for (const language::CommandRefusal& each : refused.refusal.logged) {
    top->errors.add({"event_probe", std::string(each.what), language::EventProbeCommand::logged(line), each.position});
  }
  const bool is_named = !refused.refusal.logged.empty();
  return fail(refused.refusal.code,
              is_named ? std::string(refused.refusal.logged.front().what) : "the event probe could not be made");
}

Result<void> DynamicEvents::remove(const Caller& caller, std::string_view command) {
  LT_TRY(const Removal removal, parse_removal(command));
  context_.domain.enable_words().sweep();  // the process that kept the event may have ended
  domain::Events& events = context_.domain.events();
  std::vector<std::uint32_t> meant;
  for (const domain::Event* const event : events.all()) {
    if (is_meant(*event, removal, context_.domain.abi())) meant.push_back(event->slot);
  }
  if (meant.empty()) return fail(ENOENT, "no such event");
  for (const std::uint32_t slot : meant) {
    domain::Event* const event = events.at(slot);  // which may have gone with its probe
    if (event != nullptr) LT_CHECK(context_.rules.remove(*event, caller.who.uid));
  }
  return {};
}

Result<void> DynamicEvents::truncate(const Caller& caller) {
  return remove_all(context_, caller, [](const domain::Event&) { return true; });
}

}  // namespace landtrace::tracefs
