#include "tracefs/probe_files.hpp"

#include <fmt/format.h>

#include "tracefs/command_lines.hpp"
#include "tracefs/remove_all.hpp"
#include "tracefs/removal.hpp"

namespace landtrace::tracefs {
namespace {

using language::FunctionProbeCommand;
using language::ProbeFamily;

bool is_of_family(const domain::Event& event, ProbeFamily family) {
  const rules::Probe* const probe = rules::find_probe(event);
  return probe != nullptr && probe->family == family;
}

const char* subsystem_of(ProbeFamily family) {
  return family == ProbeFamily::kUprobe ? "trace_uprobe" : "trace_kprobe";
}

// What was left out of a pattern, for a person; "": nothing.
language::AcceptedProbe<std::string> define_any(Context& context, const Caller& caller, ProbeFamily family,
                                                std::string_view line) {
  rules::Probes& probes = context.rules.probes();
  const programs::Asker asker{caller.who, caller.tid};
  if (const auto each = language::ProbePattern::parse(family, line)) {
    const auto remove = [&](domain::Event& event) { return context.rules.remove(event, 0); };
    auto made = probes.define_each(*each, asker, remove);
    if (made || made.error().code != FunctionProbeCommand::kOther) return made;
  }
  return probes.define_some(family, line, asker);
}

}  // namespace

Result<void> define_probe(Context& context, const Caller& caller, ProbeFamily family, std::string_view line) {
  if (!context.rules.probes().is_prepared(line, {caller.who, caller.tid})) return fail(kNotYet);
  const auto log = [&](const std::string& what, std::size_t position) {
    context.log_error(context.domain.top(),
                      {subsystem_of(family), what, FunctionProbeCommand(family, line).logged(), position});
  };
  const auto made = define_any(context, caller, family, line);
  if (!made) {
    const language::ProbeRefusal& refusal = made.error();
    for (const language::CommandRefusal& each : refusal.logged) log(each.text(), each.position);
    return fail(refusal.code, refusal.logged.empty() ? "the probe could not be made" : refusal.logged.front().text());
  }
  // Kernels have no patterns, so nobody takes this for a refusal.
  if (!made->empty()) log(*made, language::CommandWords(line).position_of(1));
  return {};
}

Result<std::string> ProbeEvents::text() {
  std::string text;
  for (const auto& line : context_.rules.probes().lines(family_)) {
    text += line.event->definitions[line.place].text + '\n';
  }
  return text;
}

Result<std::size_t> ProbeEvents::store(const Caller& caller, std::string_view bytes) {
  return run_lines(bytes, [&](std::string_view line) -> Result<void> {
    if (line.starts_with('-')) {
      return remove_dynamic(context_, caller, line,
                            [&](const domain::Event& event) { return is_of_family(event, family_); });
    }
    if (skip_spaces(line).empty()) return {};
    auto defined = define_probe(context_, caller, family_, line);
    if (!defined && defined.error().code == FunctionProbeCommand::kOther)
      return fail(EINVAL, "not a probe's definition");
    return defined;
  });
}

Result<void> ProbeEvents::truncate(const Caller& caller) {
  return remove_all(context_, caller, [&](const domain::Event& event) { return is_of_family(event, family_); });
}

Result<std::string> ProbeProfile::text() {
  std::string text;
  for (const auto& line : context_.rules.probes().lines(family_)) {
    const rules::ProbePlace& place = rules::find_probe(*line.event)->places[line.place];
    const rules::ProbeCounts counts = context_.rules.probes().counts(*line.event, place);
    text += family_ == ProbeFamily::kUprobe
                ? fmt::format("  {} {:<44} {:>15}\n", place.named.object, line.event->name, counts.hits)
                : fmt::format("  {:<44} {:>15} {:>15}\n", line.event->name, counts.hits, counts.missed);
  }
  return text;
}

}  // namespace landtrace::tracefs
