#include "cli/fleet/order_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "arch/clock.hpp"
#include "base/fd.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "cli/terminal.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kReports_ns = 50'000'000;
constexpr int kShow_ms = 1000;
// Behind the last host that has answered.
constexpr std::uint64_t kPatience_ns = 5'000'000'000;
// It prints what had come by then, for seven seconds at most.
constexpr std::uint64_t kLastLines_ns = 10'000'000'000;
constexpr std::size_t kMostRefusals = 32;
constexpr std::string_view kClearScreen = "\033[H\033[2J";

}  // namespace

Result<Reports> OrderWatch::reports() const {
  const auto hosts = fleet_.hosts();
  if (!hosts) return tl::unexpected<Error>(hosts.error());
  return reports_of(order_, hosts->entries, fleet::wall_ns());
}

// What cannot be read for a moment may be there at the next.
Result<Reports> OrderWatch::wait_for(const std::function<bool(const Reports&)>& is_done) const {
  std::uint64_t end = arch::monotonic_ns() + kPatience_ns;
  for (std::optional<std::uint64_t> answered;;) {
    const std::uint64_t asked_ns = arch::monotonic_ns();
    auto now = reports();
    const std::uint64_t told_ns = arch::monotonic_ns();
    if ((now && is_done(*now)) || told_ns > end) return now;
    const std::uint64_t answers = now ? now->hosts() + now->ended : 0;
    if (answered && answers > *answered) end = told_ns + kPatience_ns;
    if (now) answered = answers;
    // Of thousands of hosts each look is work for the server, which has theirs to do.
    const std::uint64_t pause_ns = std::max(kReports_ns, told_ns - asked_ns);
    ::poll(nullptr, 0, static_cast<int>(pause_ns / 1'000'000));
  }
}

Result<Reports> OrderWatch::wait_for_reports() const {
  return wait_for([](const Reports& reports) { return reports.silent.empty(); });
}

// A host says that it has ended behind its last frames.
Result<Reports> OrderWatch::wait_for_ends() const {
  return wait_for([](const Reports& reports) { return reports.applied == 0; });
}

int OrderWatch::complain_of(const Reports& reports) const {
  const std::size_t told = std::min(reports.refusals.size(), kMostRefusals);
  for (std::size_t i = 0; i < told; ++i) complain(reports.refusals[i]);
  if (const std::size_t more = reports.refusals.size() - told; more > 0) {
    complain(fmt::format("{} more were refused: landtrace fleet hosts --json has all", count_text(more)));
  }
  if (reports.hosts() > 0) return reports.applied + reports.ended > 0 ? kSuccess : kFailure;
  complain(order_.where.empty() ? "there is no host yet: landtraced --fleet joins one"
                                : "there is no host where " + order_.where);
  return kFailure;
}

int OrderWatch::complain_of_end(const Reports& reports) const {
  const int status = complain_of(reports);
  for (const std::string& text : missing_texts(reports)) complain(text);
  const bool is_in_vain = reports.events == 0 && !reports.refusals.empty();
  return status == kSuccess && (is_in_vain || !reports.missing.empty()) ? kFailure : status;
}

int OrderWatch::give() {
  if (auto given = fleet_.put(order_, options_.sign); !given) return fail_with(kFailure, sentence(given.error()));
  const auto reports = wait_for_reports();
  if (!reports) {
    const std::string why = ": the order is given; what hosts make of it was not heard: " + reports.error().message;
    return fail_with(kFailure, order_.id + why);
  }
  TextOutput out;
  out.text() += fmt::format("{}: {}\n", order_.id, reports_text(*reports));
  out.flush();
  const int status = complain_of(*reports);
  return out.status() != kSuccess ? out.status() : status;
}

Result<void> OrderWatch::show(bool is_last) const {
  LT_TRY(const auto sums, fleet_.sums(order_.id, options_.per));
  const Screen screen = options_.json ? Screen() : Screen::of(STDOUT_FILENO);
  LT_TRY(const std::string text, sums_text(order_, sums, options_.json, screen.columns));
  TextOutput out;
  if (!is_last && out.is_for_terminal() && !options_.json) {
    std::ignore = ::write(STDOUT_FILENO, kClearScreen.data(), kClearScreen.size());
  }
  out.text() += is_last || options_.json ? text : fitted(text, screen);
  if (!out.flush() && out.status() != kSuccess) return fail(EIO, "standard output cannot be written");
  return {};
}

Result<void> OrderWatch::watch_until_end(Signals& signals) {
  const bool shows = options_.live || (::isatty(STDOUT_FILENO) == 1 && !options_.json);
  while (!order_.has_ended(fleet::wall_ns())) {
    const std::uint64_t left_ms = (order_.until_ns - std::min(order_.until_ns, fleet::wall_ns())) / 1'000'000 + 1;
    const auto arrived = signals.wait(static_cast<int>(std::min<std::uint64_t>(left_ms, kShow_ms)));
    if (arrived && arrived->number != SIGCHLD) return {};
    if (shows && !arrived && !order_.has_ended(fleet::wall_ns())) LT_CHECK(show(false));
  }
  return {};
}

// Not for ever: what it writes to may stand still.
void OrderWatch::end_lines(Signals& signals, Child& lines) {
  lines.send(SIGTERM);
  const std::uint64_t end_ns = arch::monotonic_ns() + kLastLines_ns;
  while (!lines.has_ended()) {
    std::ignore = signals.wait(kShow_ms);
    if (arch::monotonic_ns() >= end_ns) lines.send(SIGKILL);
  }
}

// Or the end of whoever prints, whose output nobody reads any more.
Result<Reports> OrderWatch::wait_for_end(Signals& signals, Child& lines) const {
  while (!order_.has_ended(fleet::wall_ns()) && !lines.has_ended()) {
    const auto arrived = signals.wait(kShow_ms);
    if (arrived && arrived->number != SIGCHLD) break;
  }
  const auto ended = fleet_.end({order_.id});
  auto reports = wait_for_ends();  // behind their last lines
  end_lines(signals, lines);
  if (!ended) return tl::unexpected<Error>(ended.error());
  return reports;
}

// It listens when this returns, or has ended: what hosts send from the order on is not missed.
Result<Child> OrderWatch::start_lines(const Signals& signals) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  const Fd listens(ends[0]);
  Fd its_end(ends[1]);
  ::fcntl(its_end.get(), F_SETFD, 0);
  std::vector<std::string> command = fleet_.command("tail");
  command.push_back(order_.id);
  command.push_back(std::to_string(its_end.get()));
  LT_TRY(const Child lines, Child::start(command, ending_with_this(fleet_.environment()), signals.mask_before()));
  its_end.reset();
  pollfd closed{listens.get(), POLLIN, 0};
  ::poll(&closed, 1, static_cast<int>(kPatience_ns / 1'000'000));
  return lines;
}

int OrderWatch::tail() {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  auto lines = start_lines(*signals);
  if (!lines) return fail_with(kFailure, sentence(lines.error()));
  const auto given = fleet_.put(order_, options_.sign);
  if (!given) end_lines(*signals, *lines);
  if (!given) return fail_with(kFailure, sentence(given.error()));
  const auto begun = wait_for_reports();
  if (begun) complain("order " + order_.id + ": " + reports_text(*begun));
  const auto waited = wait_for_end(*signals, *lines);
  if (!waited) return fail_with(kFailure, sentence(waited.error()));
  if (!begun) return fail_with(kFailure, sentence(begun.error()));
  const int status = complain_of_end(*waited);
  return status == kSuccess && lines->exit_status() != kSuccess ? kFailure : status;
}

int OrderWatch::watch() {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  if (auto given = fleet_.put(order_, options_.sign); !given) return fail_with(kFailure, sentence(given.error()));
  const auto begun = wait_for_reports();
  Result<void> watched;
  if (begun) complain("order " + order_.id + ": " + reports_text(*begun));
  if (begun && begun->applied + begun->ended > 0) watched = watch_until_end(*signals);
  const auto ended = fleet_.end({order_.id});
  if (!watched) return fail_with(kFailure, sentence(watched.error()));
  if (!ended) return fail_with(kFailure, sentence(ended.error()));
  if (!begun) return fail_with(kFailure, sentence(begun.error()));
  const auto reports = wait_for_ends();
  if (!reports) return fail_with(kFailure, sentence(reports.error()));
  if (auto shown = show(true); !shown) return fail_with(kFailure, sentence(shown.error()));
  if (reports->applied > 0) {
    complain(fmt::format("{} of {} hosts did not say that they are done: their last counts may be missing",
                         reports->applied, reports->hosts()));
  }
  return complain_of_end(*reports);
}

}  // namespace landtrace::cli
