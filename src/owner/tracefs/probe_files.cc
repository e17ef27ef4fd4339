#include "tracefs/probe_files.hpp"

#include <fmt/format.h>

#include "rules/probes/many_probes.hpp"
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

// A line of the family's file, and what the error log says of it.
struct Definition {
  Context& context;
  ProbeFamily family;
  std::string line;

  void log(const std::string& what, std::size_t position) const {
    context.log_error(context.domain.top(),
                      {subsystem_of(family), what, FunctionProbeCommand(family, line).logged(), position});
  }
  [[nodiscard]] tl::unexpected<Error> refused(const language::ProbeRefusal& refusal) const {
    for (const language::CommandRefusal& each : refusal.logged) log(each.text(), each.position);
    return fail(refusal.code, refusal.logged.empty() ? "the probe could not be made" : refusal.logged.front().text());
  }
  // What was left out of a pattern, for a person; "": nothing. Kernels have no patterns, so nobody takes this for a
  // refusal.
  void made(const std::string& left_out) const {
    if (!left_out.empty()) log(left_out, language::CommandWords(line).position_of(1));
  }
};

// An event for each function.
class DefiningEach final : public Work {
 public:
  DefiningEach(Definition definition, std::unique_ptr<rules::ManyProbes> many)
      : definition_(std::move(definition)), many_(std::move(many)) {}

  Result<bool> go_on(const domain::Turn& turn) override {
    const auto done = many_->go_on(turn);
    if (!done) return definition_.refused(done.error());
    if (*done) definition_.made(many_->left_out());
    return *done;
  }

 private:
  Definition definition_;
  std::unique_ptr<rules::ManyProbes> many_;
};

}  // namespace

Result<void> define_probe(Context& context, const Caller& caller, ProbeFamily family, std::string_view line,
                          Rest& rest) {
  if (rest.is_of(line)) return done_or_not_yet(rest.go_on());
  rules::Probes& probes = context.rules.probes();
  const programs::Asker asker{caller.who, caller.tid};
  if (!probes.is_prepared(line, asker)) return fail(kNotYet);
  const Definition definition{context, family, std::string(line)};
  if (auto pattern = language::ProbePattern::parse(family, line)) {
    auto many = rules::ManyProbes::begin(probes, *std::move(pattern), asker,
                                         [&context](domain::Event& event) { return context.rules.remove(event, 0); });
    if (many) return done_or_not_yet(rest.begin(line, std::make_unique<DefiningEach>(definition, *std::move(many))));
    if (many.error().code != FunctionProbeCommand::kOther) return definition.refused(many.error());
  }
  const auto made = probes.define_some(family, line, asker);
  if (!made) return definition.refused(made.error());
  definition.made(*made);
  return {};
}

Result<std::string> ProbeEvents::text() {
  std::string text;
  for (const auto& line : context_.rules.probes().lines(family_)) {
    text += line.event->defined->definitions[line.place].text + '\n';
  }
  return text;
}

Result<std::size_t> ProbeEvents::store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest) {
  return run_lines(bytes, [&](std::string_view line) -> Result<void> {
    if (line.starts_with('-')) {
      const auto is_ours = [&](const domain::Event& event) { return is_of_family(event, family_); };
      return remove_dynamic(context_, caller, line, is_ours, rest);
    }
    if (skip_spaces(line).empty()) return {};
    auto defined = define_probe(context_, caller, family_, line, rest);
    if (!defined && defined.error().code == FunctionProbeCommand::kOther)
      return fail(EINVAL, kNoProbe);
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
