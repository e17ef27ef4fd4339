#include "cli/histogram/watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "arch/clock.hpp"
#include "cli/event_rules.hpp"
#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {
namespace {

// The session records nothing; what it must have of rings is as small as can be.
constexpr std::uint64_t kRingBytes = 64 * 1024;
// How soon something that has been waited for is noticed: at first, when programs start, and later.
constexpr std::uint64_t kFirst_ns = 1'000'000'000;
constexpr std::uint64_t kFirstLook_ns = 10'000'000;
constexpr std::uint64_t kLook_ns = 200'000'000;
constexpr const char* kClearScreen = "\033[H\033[2J";

}  // namespace

void add_watch_options(Command& command, WatchOptions& options) {
  command.option("--filter", options.filter, "Only of events that this is true of", {.type = "EXPRESSION"});
  command.option("--interval", options.interval, "Show it so often (on a terminal: 1; else at the end alone)",
                 {.type = "SECONDS"});
  command.option("--duration", options.duration, "Stop after this time", {.type = "SECONDS"});
  command.option("--size", options.size, "Rows that the table has room for (2048)", {.type = "ROWS"});
  command.flag("--json", options.json, "One line of JSON each time");
}

Result<void> check_watch_options(WatchOptions& options) {
  if (!options.interval.empty()) {
    LT_TRY(options.interval_ns, parse_seconds(options.interval));
    if (options.interval_ns == 0) return fail(EINVAL, "--interval: want more than 0 seconds");
  } else if (::isatty(STDOUT_FILENO) == 1 && !options.json) {
    options.interval_ns = 1'000'000'000;
  }
  if (!options.duration.empty()) {
    LT_TRY(options.duration_ns, parse_seconds(options.duration));
    if (options.duration_ns == 0) return fail(EINVAL, "--duration: want more than 0 seconds");
  }
  return {};
}

std::string full_event_name(const std::string& name) {
  return name.find(':') == std::string::npos ? "user_events:" + name : name;
}

std::string without_modifier(const std::string& field) { return field.substr(0, field.find('.')); }

std::string size_text(const WatchOptions& options) {
  constexpr std::uint64_t kTooLarge = 1ull << 62;
  return options.size == 0 ? "" : fmt::format(":size={}", std::bit_ceil(std::min(options.size, kTooLarge)));
}

std::string trigger_end(const WatchOptions& options) {
  return size_text(options) + (options.filter.empty() ? "" : " if " + options.filter);
}

Result<void> Watch::set_up(const Step& select) {
  LT_TRY(place_, Workplace::find(!options_.command.empty(), domain::kDefaultRingBytes));
  LT_TRY(session_, consumer::Session::open(place_->view(), {kRingBytes, true}));
  LT_CHECK(session_->record(false));
  return select(*place_, *session_);
}

// A trigger that does not fit its event will never do.
Result<void> Watch::check() {
  LT_TRY(const consumer::Session::State state, session_->state());
  if (!state.unfit.empty()) return fail(EINVAL, unfit_text(state.unfit.front()));
  return {};
}

Result<void> Watch::show(bool is_last) {
  HistView view;
  if (const auto tables = session_->histograms(event_); !tables) {
    if (tables.error().code != ENOENT) return tl::unexpected<Error>(tables.error());
    // The event is not there (yet, or any more).
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
  if (!result && child_ && !child_->has_ended()) child_->send(SIGTERM);  // what it was started for is not to be had
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
