#include "fleet/serving/line_printer.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <map>

#include "arch/clock.hpp"
#include "fleet/own_lines.hpp"
#include "fleet/subjects.hpp"
#include "output/visible.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kLook_ms = 50;
constexpr std::int64_t kFlush_ms = 5000;
// For what had come by the end.
constexpr std::uint64_t kMostRest_ns = 2000 * kNsPerMs;

void say(const std::string& what) {
  std::fputs(fmt::format("landtrace: fleet: {}\n", what).c_str(), stderr);
  std::fflush(stderr);
}

// Lines that are not printed; it is said as their number has doubled, so that nobody fills the terminal.
class UnprintedLines {
 public:
  explicit UnprintedLines(const char* why) : why_(why) {}

  void count(const std::string& subject, std::uint64_t lines) {
    if (lines == 0) return;
    Count& count = counts_[host_part(subject)];
    count.host = host_in(subject);
    count.lines += lines;
    if (count.lines >= 2 * count.told) tell(count);
  }
  // What has not been said so far.
  void tell_rest() {
    for (auto& [part, count] : counts_) {
      if (count.lines > count.told) tell(count);
    }
  }
  [[nodiscard]] bool has_some() const { return !counts_.empty(); }

 private:
  struct Count {
    std::string host;
    std::uint64_t lines = 0;
    std::uint64_t told = 0;
  };
  void tell(Count& count) const {
    count.told = count.lines;
    say(fmt::format("{}: {} lines {}", output::visible(count.host, output::Lines::kNone), count.lines, why_));
  }

  const char* const why_;
  std::map<std::string, Count> counts_;  // by host, as in subjects
};

class LinePrinter {
 public:
  LinePrinter(const Transport& transport, Fd stop) : transport_(transport), stop_(std::move(stop)) {}

  Result<void> run(natsSubscription* lines);

 private:
  Result<void> print_until_end(natsSubscription* lines);
  Result<void> print(natsMsg* message);
  Result<void> write(std::string_view text);
  void look_for_end();
  [[nodiscard]] bool is_ending() const { return end_ns_ != 0; }

  const Transport& transport_;
  const Fd stop_;
  const bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  MissingLines heard_;
  UnprintedLines missing_{"never came: a connection was away, or they were longer than a message may be"};
  UnprintedLines foreign_{"left out that do not name the host who sent them"};
  std::uint64_t end_ns_ = 0;  // 0: it goes on
  bool is_flushed_ = false;   // what had come to the server by the end has come here
};

// Whoever ends it has heard that the hosts have ended: what they had told by then is printed.
void LinePrinter::look_for_end() {
  pollfd wanted{stop_.get(), POLLIN, 0};
  if (is_ending() || ::poll(&wanted, 1, 0) <= 0) return;
  is_flushed_ = natsConnection_FlushTimeout(transport_.connection(), kFlush_ms) == NATS_OK;
  end_ns_ = arch::monotonic_ns() + kMostRest_ns;
}

// Who reads it may stand still, as a pager does: this is not to stand in write(), where no signal would end it. A pipe
// that can be written has room for PIPE_BUF.
Result<void> LinePrinter::write(std::string_view text) {
  while (!text.empty()) {
    look_for_end();
    const std::uint64_t now_ns = arch::monotonic_ns();
    if (is_ending() && now_ns >= end_ns_) return fail(ETIMEDOUT, "the last lines were not printed: nobody reads them");
    pollfd wanted[]{{STDOUT_FILENO, POLLOUT, 0}, {is_ending() ? -1 : stop_.get(), POLLIN, 0}};
    const int wait_ms = is_ending() ? static_cast<int>((end_ns_ - now_ns) / kNsPerMs) + 1 : -1;
    if (::poll(wanted, std::size(wanted), wait_ms) < 0 && errno != EINTR) return fail_errno("poll");
    if (wanted[0].revents == 0) continue;
    const ssize_t size = ::write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (size < 0 && errno != EINTR && errno != EAGAIN) return fail_errno("standard output");
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }
  return {};
}

Result<void> LinePrinter::print(natsMsg* message) {
  const std::string subject = natsMsg_GetSubject(message);
  const std::string text = text_of(message);
  if (const auto before = Transport::lines_before(message)) {
    missing_.count(subject, heard_.before(subject, *before, text));
  }
  const OwnLines own = own_lines(subject, text);
  foreign_.count(subject, own.foreign);
  return write(is_terminal_ ? output::visible(own.text, output::Lines::kKept) : own.text);
}

Result<void> LinePrinter::run(natsSubscription* lines) {
  LT_CHECK(print_until_end(lines));
  missing_.tell_rest();
  if (missing_.has_some()) return fail(EIO, "what was printed is not all");
  if (!is_flushed_) return fail(ETIMEDOUT, "the server did not answer at the end: the last lines may be missing");
  return {};
}

Result<void> LinePrinter::print_until_end(natsSubscription* lines) {
  for (;;) {
    look_for_end();
    if (is_ending() && arch::monotonic_ns() >= end_ns_) return {};
    natsMsg* made = nullptr;
    const natsStatus status = natsSubscription_NextMsg(&made, lines, is_ending() ? 1 : kLook_ms);
    const Message message(made);
    if (status == NATS_TIMEOUT && is_ending() && is_flushed_) return {};
    if (status != NATS_OK && !Transport::goes_on(status)) return nats_failure("lines", status);
    if (message) LT_CHECK(print(made));
  }
}

// What libnats had no room for, because it came faster than it was printed.
void complain_of_dropped(natsSubscription* lines) {
  std::int64_t dropped = 0;
  if (natsSubscription_GetDropped(lines, &dropped) != NATS_OK || dropped == 0) return;
  say(fmt::format("{} messages with lines were dropped here: they came faster than they were read", dropped));
}

}  // namespace

Result<Fd> term_signal() {
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
  ::signal(SIGINT, SIG_IGN);
  Fd stop(::signalfd(-1, &term, SFD_CLOEXEC));
  if (!stop) return fail_errno("signalfd");
  return stop;
}

Result<void> print_lines(const Transport& transport, const std::string& order, int listens) {
  ::signal(SIGPIPE, SIG_IGN);
  LT_TRY(Fd stop, term_signal());
  natsSubscription* made = nullptr;
  const natsStatus status = natsConnection_SubscribeSync(&made, transport.connection(), lines_of(order).c_str());
  const Subscription lines(made);
  if (status != NATS_OK) return nats_failure("lines", status);
  natsConnection_FlushTimeout(transport.connection(), kFlush_ms);
  ::close(listens);
  const auto printed = LinePrinter(transport, std::move(stop)).run(made);
  complain_of_dropped(made);
  const bool has_reader_gone = !printed && printed.error().code == EPIPE;  // as with `| head`
  return has_reader_gone ? Result<void>() : printed;
}

}  // namespace landtrace::fleet
