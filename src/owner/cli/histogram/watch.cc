#include "cli/histogram/watch.hpp"

#include <unistd.h>

#include <algorithm>

#include "arch/clock.hpp"
#include "cli/event_rules.hpp"
#include "cli/failure.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {
namespace {

// The session records nothing, so its rings are the smallest that it can have.
constexpr std::uint64_t kRingBytes = 64 * 1024;
// How often to look for what is waited for: often at first, while programs start, and rarely later.
constexpr std::uint64_t kFirst_ns = 1'000'000'000;
constexpr std::uint64_t kFirstLook_ns = 10'000'000;
constexpr std::uint64_t kLook_ns = 200'000'000;
constexpr const char* kClearScreen = "\033[H\033[2J";

}  // namespace

Result<void> Watch::set_up(const Step& select) {
  LT_TRY(place_, Workplace::find(!options_.command.empty(), domain::kDefaultRingBytes));
  LT_TRY(session_, consumer::Session::open(place_->view(), {kRingBytes, true}));
  LT_CHECK(session_->record(false));
  return select(*place_, *session_);
}

// Waiting on would not help: a trigger that does not fit its event never will.
Result<void> Watch::check() {
  LT_TRY(const consumer::Session::State state, session_->state());
  if (!state.unfit.empty()) return fail(EINVAL, unfit_text(state.unfit.front()));
  return {};
}

Result<void> Watch::show(bool is_last) {
  HistView view;
  if (const auto tables = session_->histograms(event_); !tables) {
    if (tables.error().code != ENOENT) return tl::unexpected<Error>(tables.error());
    // The event has not registered yet, or is gone: shown as an empty histogram.
  } else if (!tables->empty()) {
    LT_TRY(view, make_view(shape_, tables->front()));
  }
  TextOutput out;
  if (!options_.json && !is_last && ::isatty(STDOUT_FILENO) == 1) out.text() += kClearScreen;
  out.text() += options_.json ? json_text(shape_, view) : chart_text(shape_, view);
  if (!out.flush() && out.status() != 0) return fail(EIO, "standard output cannot be written");
  return {};
}

int Watch::watch(Signals& signals, const Step& look) {
  const std::uint64_t start = arch::monotonic_ns();
  std::uint64_t next_show = options_.interval_ns == 0 ? ~0ull : start + options_.interval_ns;
  const std::uint64_t end = options_.duration_ns == 0 ? ~0ull : start + options_.duration_ns;
  Result<void> result;
  for (;;) {
    const std::uint64_t now = arch::monotonic_ns();
    if (now >= end || place_->view().owner_died() || (child_ && child_->has_ended())) break;
    if (look && (result = look(*place_, *session_)); !result) break;
    if (result = check(); !result) break;
    if (now >= next_show) {
      if (result = show(false); !result) break;
      next_show = now + options_.interval_ns;
    }
    const std::uint64_t look_ns = now - start < kFirst_ns ? kFirstLook_ns : kLook_ns;
    const std::uint64_t wait_ns = std::min({look_ns, next_show - now, end - now});
    const auto arrived = signals.wait(static_cast<int>(wait_ns / 1'000'000) + 1);
    if (!arrived || arrived->number == SIGCHLD) continue;
    if (child_ && !arrived->from_terminal) child_->send(arrived->number);
    if (!child_) break;
  }
  if (result) result = show(true);
  if (!result) complain(sentence(result.error()));
  // CMD was started for a histogram that there will not be.
  if (!result && child_ && !child_->has_ended()) child_->send(SIGTERM);
  while (child_ && !child_->has_ended()) std::ignore = signals.wait(Signals::kForEver);
  if (!result) return kFailure;
  return child_ ? child_->exit_status() : kSuccess;
}

int Watch::run(const Step& select, const Step& look) {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  if (auto done = set_up(select); !done) return fail_with(kFailure, sentence(done.error()));
  if (!options_.command.empty()) {
    auto started = place_->start(options_.command, false, signals->mask_before());
    if (!started) return fail_with(status_of_spawn_error(started.error()), sentence(started.error()));
    child_ = *started;
  }
  return watch(*signals, look);
}

}  // namespace landtrace::cli
