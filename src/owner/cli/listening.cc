#include "cli/listening.hpp"

#include <algorithm>

#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/static_program.hpp"

namespace landtrace::cli {

Listening::~Listening() {
  if (probes_ && session_) std::ignore = session_->stop();
}

Result<void> Listening::begin(const consumer::Session::Options& rings) {
  const bool may_be_smaller = rings.least_ring_bytes != 0;
  // The trace files of a domain of one's own have rings that no recording waits for.
  LT_TRY(place_, Workplace::find(!command_.empty(), may_be_smaller ? rings.least_ring_bytes : rings.ring_bytes));
  LT_CHECK(define_probes());
  consumer::Session::Options wanted = rings;
  if (!command_.empty()) wanted.least_ring_bytes = 0;  // nobody else is to find room there
  LT_TRY(session_, place_->open_session(wanted));
  for (const auto& selection : options_.selections) LT_CHECK(session_->select(selection));
  return {};
}

// The events of -p, and what is recorded then.
Result<void> Listening::define_probes() {
  if (!options_.probes.empty()) {
    LT_TRY(ProbeSet probes, ProbeSet::connect(place_->socket(), options_.programs.as_command(command_)));
    probes_.emplace(std::move(probes));
  }
  for (const auto& [index, probe] : options_.probes) {
    LT_TRY(options_.selections[index].pattern,
           probe.is_pattern() ? probes_->define_each(probe) : probes_->define(probe));
  }
  std::vector<std::string> patterns;
  for (const auto& selection : options_.selections) patterns.push_back(selection.pattern);
  LT_TRY(filter_, reader::EventFilter::parse(patterns));
  return {};
}

void Listening::say_what_is_waited_for(const Types& types) const {
  const std::vector<EventName> events = names_of(types);
  if (!command_.empty() || events.empty()) return;
  for (const event::Pattern& pattern : unmatched(filter_.patterns(), events)) {
    if (is_name(pattern))
      complain(fmt::format("waiting: {} yet{}", missing_text(pattern), instead_text(pattern, events)));
  }
}

void Listening::say_what_was_not_probed() const {
  std::vector<std::string> events;
  for (const auto& [index, probe] : options_.probes) events.push_back(options_.selections[index].pattern);
  options_.programs.tell_refusals(place_->socket(), events, command_);
  for (const std::string& text : place_->unattached()) complain(text);
}

void Listening::say_what_became_of_rules() {
  const auto state = session_->state();
  if (!state) return;  // the domain has ended, and the user was told
  if (!state->recording) complain("a traceoff trigger ended what is recorded; no traceon followed");
  constexpr std::size_t kMostLines = 20;
  for (std::size_t i = 0; i < std::min(state->unfit.size(), kMostLines); ++i) complain(unfit_text(state->unfit[i]));
  if (state->unfit.size() > kMostLines) {
    complain(fmt::format("and {} more filters and triggers that do not fit", state->unfit.size() - kMostLines));
  }
}

bool Listening::were_there(const Types& types, bool tracefs) const {
  return complain_of_missing(filter_.patterns(), names_of(types),
                             why_none_registered(command_, tracefs, place_->socket()));
}

}  // namespace landtrace::cli
