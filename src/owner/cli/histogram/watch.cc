#include "cli/histogram/watch.hpp"

#include <unistd.h>

#include <algorithm>

#include "arch/clock.hpp"
#include "cli/event_rules.hpp"
#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/static_program.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {
namespace {

// How often to look for what is waited for: often at first, while programs start, and rarely later.
constexpr std::uint64_t kFirst_ns = 1'000'000'000;
constexpr std::uint64_t kFirstLook_ns = 10'000'000;
constexpr std::uint64_t kLook_ns = 200'000'000;
constexpr std::string_view kClearScreen = "\033[H\033[2J";

}  // namespace

Result<void> Watch::set_up() {
  LT_TRY(place_, Workplace::find(!options_.command.empty(), domain::kDefaultRingBytes));
  LT_TRY(session_, place_->open_session({ring_bytes_, false}));
  seen_.emplace(place_->view().control());
  return watched_.begin(*place_, *session_);
}

// Before the owner's own answer, which does not know what the user typed.
Result<void> Watch::check_new_events() {
  seen_->refresh();
  const std::vector<std::string> named = watched_.named();
  const auto& types = seen_->types();
  for (; checked_ < types.size(); ++checked_) {
    const output::EventType& type = types[checked_];
    if (std::find(named.begin(), named.end(), type.system + ":" + type.name) == named.end()) continue;
    LT_CHECK(watched_.fits(type));
  }
  return {};
}

// Waiting on would not help: a filter or a trigger that does not fit its event never will.
Result<void> Watch::check() {
  LT_CHECK(check_new_events());
  if (place_->view().owner_died()) return {};
  LT_TRY(const consumer::Session::State state, session_->state());
  if (state.unfit.empty()) return {};
  LT_CHECK(check_new_events());  // the event may have come after the first look
  return fail(EINVAL, unfit_text(state.unfit.front()));
}

Result<std::uint64_t> Watch::look() {
  LT_CHECK(check());
  return watched_.look_ns();
}

Result<void> Watch::show(bool is_last) {
  const Screen screen = options_.json ? Screen() : Screen::of(STDOUT_FILENO);
  LT_TRY(const std::string text, watched_.text(shape_, options_, screen.columns));
  TextOutput out;
  if (!options_.json && !is_last && out.is_for_terminal()) {
    std::ignore = write_all(STDOUT_FILENO, kClearScreen.data(), kClearScreen.size());
  }
  // What does not fit on the screen would push the beginning out of it.
  out.text() += is_last || options_.json ? text : fitted(waiting_text() + text, screen);
  if (!out.flush() && out.status() != 0) return fail(EIO, "standard output cannot be written");
  return {};
}

std::vector<event::Pattern> Watch::named() const {
  std::vector<event::Pattern> patterns;
  for (const std::string& name : watched_.named()) {
    if (auto pattern = event::Pattern::parse(name)) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

std::string Watch::waiting_text() const {
  std::string text;
  const std::vector<EventName> events = names_of(seen_->types());
  for (const event::Pattern& pattern : unmatched(named(), events)) {
    text +=
        fmt::format("waiting: {} yet{}\n", missing_text(pattern), events.empty() ? "" : instead_text(pattern, events));
  }
  return text;
}

// False: an event that was named was never there.
bool Watch::were_there() const {
  return complain_of_missing(named(), names_of(seen_->types()),
                             why_none_registered(options_.command, options_.tracefs, place_->socket()));
}

int Watch::watch(Signals& signals) {
  const std::uint64_t start = arch::monotonic_ns();
  std::uint64_t next_show = options_.interval_ns == 0 ? ~0ull : start + options_.interval_ns;
  const std::uint64_t end = options_.duration_ns == 0 ? ~0ull : start + options_.duration_ns;
  Result<void> result;
  for (;;) {
    const std::uint64_t now = arch::monotonic_ns();
    if (now >= end || place_->view().owner_died() || (child_ && child_->has_ended()) ||
        options_.programs.have_ended()) {
      break;
    }
    const Result<std::uint64_t> next_look_ns = look();
    if (!next_look_ns) {
      result = tl::unexpected<Error>(next_look_ns.error());
      break;
    }
    if (now >= next_show) {
      if (result = show(false); !result) break;
      next_show = now + options_.interval_ns;
    }
    const std::uint64_t look_ns = std::min(*next_look_ns, now - start < kFirst_ns ? kFirstLook_ns : kLook_ns);
    const std::uint64_t wait_ns = std::min({look_ns, next_show - now, end - now});
    const auto arrived = signals.wait(static_cast<int>((wait_ns + 999'999) / 1'000'000));
    if (!arrived || arrived->number == SIGCHLD) continue;
    if (child_ && !arrived->from_terminal) child_->send(arrived->number);
    if (!child_) break;
  }
  // Of a short CMD, or of its last moment, nothing has been looked at yet.
  if (result) result = check();
  options_.programs.tell_refusals(place_->socket(), watched_.probes(), options_.command);
  if (result) result = watched_.end();
  if (result) result = show(true);
  if (!result) complain(sentence(result.error()));
  // CMD was started for a histogram that there will not be.
  if (!result && child_ && !child_->has_ended()) child_->send(SIGTERM);
  while (child_ && !child_->has_ended()) std::ignore = signals.wait(Signals::kForEver);
  if (!result) return kFailure;
  const bool all_were_there = were_there();
  const int status = child_ ? child_->exit_status() : kSuccess;
  return status != kSuccess ? status : all_were_there ? kSuccess : kFailure;
}

int Watch::run() {
  const int status = set_up_and_watch();
  if (session_) std::ignore = session_->stop();
  watched_.leave();
  return status;
}

int Watch::set_up_and_watch() {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  if (auto done = set_up(); !done) return fail_with(kFailure, sentence(done.error()));
  if (options_.command.empty()) complain("watching " + place_->text());
  if (!options_.command.empty()) {
    auto started = place_->start(options_.command, options_.tracefs, signals->mask_before());
    if (!started) return fail_with(status_of_spawn_error(started.error()), sentence(started.error()));
    child_ = *started;
  }
  if (auto done = options_.programs.attach_to(place_->socket()); !done) {
    return fail_with(kFailure, sentence(done.error()));
  }
  return watch(*signals);
}

}  // namespace landtrace::cli
