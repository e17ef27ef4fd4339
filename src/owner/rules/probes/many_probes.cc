// An event for each function of a pattern.
#include <fmt/format.h>

#include "rules/probes/probes.hpp"
#include "symbols/short_name.hpp"

namespace landtrace::rules {
namespace {

using language::FunctionProbeCommand;
using language::ProbePattern;
using language::ProbeRefusal;

tl::unexpected<ProbeRefusal> refuse_pattern(const ProbePattern& pattern, int code, std::string text) {
  return tl::unexpected<ProbeRefusal>(ProbeRefusal{code, {{code, {}, pattern.pattern_at(), std::move(text)}}});
}

// Of the original line.
tl::unexpected<ProbeRefusal> refuse_as_written(ProbeRefusal refusal, const ProbePattern& pattern,
                                               const std::string& function, const std::string& event) {
  for (auto& each : refusal.logged) each.position = pattern.position(each.position, function, event);
  // The line may look like one of another family, but it is none of theirs.
  if (refusal.code == FunctionProbeCommand::kOther) refusal.code = EINVAL;
  return tl::unexpected<ProbeRefusal>(std::move(refusal));
}

}  // namespace

language::AcceptedProbe<std::string> Probes::define_each(const ProbePattern& pattern, const programs::Asker& asker,
                                                         const std::function<Result<void>(Event&)>& remove_event) {
  CallersObjects objects(files_, programs_, asker);
  const auto spots = objects.find_each(pattern);
  if (!spots && spots.error().message.empty()) {
    return tl::unexpected<ProbeRefusal>(ProbeRefusal{FunctionProbeCommand::kOther});
  }
  if (!spots) return refuse_pattern(pattern, spots.error().code, spots.error().message);
  std::vector<std::uint32_t> made;
  language::ProbeEventNames names;
  const auto give_up = [&](tl::unexpected<ProbeRefusal> refusal) {
    for (auto last = made.rbegin(); last != made.rend(); ++last) std::ignore = remove_event(*events_.at(*last));
    return refusal;
  };
  for (const auto& one : spots->functions) {
    const std::string event = names.name_of(symbols::WrittenName(one.name).plain());
    // It would be one place more of an event that somebody else has defined.
    if (events_.find(pattern.group, event) != nullptr) {
      return give_up(
          refuse_pattern(pattern, EEXIST, fmt::format("There is an event {}/{} already", pattern.group, event)));
    }
    const auto defined = define(pattern.family, pattern.line(one.name, event), asker, objects);
    if (!defined) return give_up(refuse_as_written(defined.error(), pattern, one.name, event));
    made.push_back((*defined)->slot);
  }
  return objects.left_out();
}

}  // namespace landtrace::rules
