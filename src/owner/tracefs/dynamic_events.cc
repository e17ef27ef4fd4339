#include "tracefs/dynamic_events.hpp"

#include "domain/status.hpp"
#include "tracefs/command_lines.hpp"
#include "tracefs/events/filter_errors.hpp"
#include "tracefs/probe_files.hpp"
#include "tracefs/removal.hpp"
#include "tracefs/remove_all.hpp"
#include "tracefs/synthetic_events.hpp"

namespace landtrace::tracefs {

Result<std::string> DynamicEvents::text() { return domain::dynamic_events_text(context_.domain.events()); }

Result<std::size_t> DynamicEvents::store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest) {
  return run_lines(bytes, [&](std::string_view line) { return run(caller, line, rest); });
}

Result<void> DynamicEvents::run(const Caller& caller, std::string_view line, Rest& rest) {
  if (line.starts_with('-') || line.starts_with('!')) {
    return remove_dynamic(
        context_, caller, line, [](const domain::Event&) { return true; }, rest);
  }
  const std::string_view command = skip_spaces(line);
  if (command.empty()) return {};
  if (command.starts_with("s:"))
    return define_synthetic(context_, caller, line, language::split_dynamic_synthetic(line));
  if (language::EventProbeCommand::is_one(line)) return make_event_probe(caller, line);
  if (command.starts_with('p') || command.starts_with('r')) return make_probe(caller, line, rest);
  if (!line.starts_with("u:")) {
    return fail(EINVAL, "want u:NAME FIELDS, s:NAME FIELDS, e:NAME SYSTEM.EVENT, p:NAME PLACE or r:NAME PLACE");
  }
  return make(caller, skip_spaces(line.substr(2)));
}

Result<void> DynamicEvents::make(const Caller& caller, std::string_view definition) {
  LT_TRY(const std::uint32_t slot,
         context_.domain.registrar().register_native(definition, domain::kPersist, caller.who.uid));
  context_.domain.events().drop_reference(slot);
  return {};
}

// Whoever takes the line first has it.
Result<void> DynamicEvents::make_probe(const Caller& caller, std::string_view line, Rest& rest) {
  for (const auto family : {language::ProbeFamily::kKprobe, language::ProbeFamily::kUprobe}) {
    auto made = define_probe(context_, caller, family, line, rest);
    if (made || made.error().code != language::FunctionProbeCommand::kOther) return made;
  }
  return fail(EINVAL, kNoProbe);
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
    top->errors.add({"event_probe", each.text(), language::EventProbeCommand::logged(line), each.position});
  }
  const bool is_named = !refused.refusal.logged.empty();
  return fail(refused.refusal.code,
              is_named ? refused.refusal.logged.front().text() : "the event probe could not be made");
}

Result<void> DynamicEvents::truncate(const Caller& caller) {
  return remove_all(context_, caller, [](const domain::Event&) { return true; });
}

}  // namespace landtrace::tracefs
