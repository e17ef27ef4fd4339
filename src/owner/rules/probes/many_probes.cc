#include "rules/probes/many_probes.hpp"

#include <fmt/format.h>

#include "symbols/short_name.hpp"

namespace landtrace::rules {
namespace {

using language::AcceptedProbe;
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

ManyProbes::ManyProbes(Probes& probes, ProbePattern pattern, const programs::Asker& asker, RemoveEvent remove_event)
    : probes_(probes),
      pattern_(std::move(pattern)),
      asker_(asker),
      remove_event_(std::move(remove_event)),
      objects_(probes.files_, probes.programs_, asker) {}

AcceptedProbe<std::unique_ptr<ManyProbes>> ManyProbes::begin(Probes& probes, ProbePattern pattern,
                                                             const programs::Asker& asker, RemoveEvent remove_event) {
  std::unique_ptr<ManyProbes> many(new ManyProbes(probes, std::move(pattern), asker, std::move(remove_event)));
  const auto spots = many->objects_.find_each(many->pattern_);
  if (!spots && spots.error().message.empty()) {
    return tl::unexpected<ProbeRefusal>(ProbeRefusal{FunctionProbeCommand::kOther});
  }
  if (!spots) return refuse_pattern(many->pattern_, spots.error().code, spots.error().message);
  language::ProbeEventNames names;
  for (const auto& one : spots->functions) {
    std::string event = names.name_of(symbols::WrittenName(one.name).plain());
    many->wanted_.emplace_back(one.name, std::move(event));
  }
  return many;
}

AcceptedProbe<bool> ManyProbes::go_on(const domain::Turn& turn) {
  while (made_.size() < wanted_.size()) {
    const auto& [function, event] = wanted_[made_.size()];
    if (auto defined = define(function, event); !defined) {
      take_back();
      return defined;
    }
    if (made_.size() < wanted_.size() && turn.is_over()) return false;
  }
  made_.clear();
  wanted_.clear();
  return true;
}

AcceptedProbe<bool> ManyProbes::define(const std::string& function, const std::string& event) {
  // It would be one place more of an event that somebody else has defined.
  if (probes_.events_.find(pattern_.group, event) != nullptr) {
    return refuse_pattern(pattern_, EEXIST, fmt::format("There is an event {}/{} already", pattern_.group, event));
  }
  const auto defined = probes_.define(pattern_.family, pattern_.line(function, event), asker_, objects_);
  if (!defined) return refuse_as_written(defined.error(), pattern_, function, event);
  made_.emplace_back((*defined)->slot, (*defined)->serial);
  return true;
}

// One that somebody has begun to use meanwhile stays.
void ManyProbes::take_back() {
  for (auto last = made_.rbegin(); last != made_.rend(); ++last) {
    Event* const event = probes_.events_.at(last->first);
    if (event != nullptr && event->serial == last->second) std::ignore = remove_event_(*event);
  }
  made_.clear();
}

}  // namespace landtrace::rules
