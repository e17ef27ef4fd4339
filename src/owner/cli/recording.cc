#include "cli/recording.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "arch/clock.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli {
namespace {

constexpr int kBusyPause_ms = 1;
constexpr int kIdlePause_ms = 10;
constexpr int kOverwritePause_ms = 50;
constexpr int kChildPause_ms = 1000;

// The other end of a pipe or terminal has been closed.
bool has_no_reader(int fd) {
  pollfd end{fd, 0, 0};
  return ::poll(&end, 1, 0) == 1 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

Recording::Recording(consumer::Collector& collector, consumer::RecorderSink& sink, Signals& signals, Child* child,
                     std::uint64_t duration_ns, bool overwrite)
    : collector_(collector),
      sink_(sink),
      signals_(signals),
      child_(child),
      deadline_ns_(duration_ns == 0 ? ~0ull : arch::monotonic_ns() + duration_ns),
      overwrite_(overwrite) {}

// The first interrupt is for CMD, because the events of its end belong to the recording; the second ends the recording.
bool Recording::take_signal(const Signals::Arrived& arrived) {
  if (arrived.number == SIGCHLD) return child_ != nullptr && child_->has_ended();
  ++interrupts_;
  if (child_ == nullptr) return true;
  if (!arrived.from_terminal) child_->send(arrived.number);
  return interrupts_ > 1;
}

bool Recording::is_over() {
  const std::uint64_t now = arch::monotonic_ns();
  if (now >= deadline_ns_ || (programs_ != nullptr && programs_->have_ended())) return true;
  const auto left_ms = static_cast<int>(std::min<std::uint64_t>((deadline_ns_ - now) / 1'000'000 + 1, 1000));
  const auto arrived =
      signals_.wait(std::min(pause_ms_, left_ms), is_for_standard_output_ ? STDOUT_FILENO : Signals::kNone);
  if (is_for_standard_output_ && pause_ms_ > 0 && has_no_reader(STDOUT_FILENO)) return lost_its_reader_ = true;
  return arrived && take_signal(*arrived);
}

// True: stop recording.
bool Recording::drain() {
  const std::uint64_t before = sink_.written();
  Result<bool> more = false;
  if (overwrite_) {
    if (auto looked = collector_.look(); !looked) more = tl::unexpected<Error>(std::move(looked).error());
  } else {
    more = collector_.drain();
  }
  if (!more) {
    complain(more.error().code == EPIPE ? "the domain has ended" : sentence(more.error()));
    failed_ = more.error().code != EPIPE;
    return true;
  }
  if (overwrite_) {
    pause_ms_ = kOverwritePause_ms;
  } else if (*more) {
    pause_ms_ = 0;
  } else {
    pause_ms_ = sink_.written() != before ? kBusyPause_ms : std::min(pause_ms_ + 1, kIdlePause_ms);
  }
  return sink_.failure().has_value();
}

void Recording::show_progress() {
  if (is_for_standard_output_ || !progress_.is_due()) return;
  const consumer::Totals totals = collector_.totals();
  const std::uint64_t events = overwrite_ ? totals.waiting : sink_.written();
  progress_.draw(events, totals.discarded + totals.overwritten + totals.placeless, sink_.bytes());
}

bool Recording::run() {
  while (!drain() && !is_over()) show_progress();
  progress_.clear();
  if (at_end_) at_end_();
  if (auto finished = collector_.finish(); !finished && finished.error().code != EPIPE) {
    complain(sentence(finished.error()));
    failed_ = true;
  }
  if (sink_.failure()) say_what_failed();
  if (auto finished = sink_.finish(); !finished) {
    complain(sentence(finished.error()));
    failed_ = true;
  }
  return !failed_;
}

void Recording::say_what_failed() {
  lost_its_reader_ = lost_its_reader_ || sink_.failure()->code == EPIPE;
  if (lost_its_reader_) return;
  complain(sentence(*sink_.failure()) + "; the recording ends here");
  failed_ = true;
}

void Recording::wait_for_child() {
  while (child_ != nullptr && !child_->has_ended() && interrupts_ < 2) {
    if (const auto arrived = signals_.wait(kChildPause_ms)) take_signal(*arrived);
  }
}

}  // namespace landtrace::cli
