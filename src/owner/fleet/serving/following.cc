#include "fleet/serving/following.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "arch/clock.hpp"
#include "fleet/feed.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

using Kind = FeedRecord::Kind;

constexpr int kLook_ms = 40;
constexpr std::uint64_t kTryAgain_ns = 1'000'000'000;
constexpr int kMostAtOnce = 4096;  // messages of one kind, before others have their turn

Result<void> tell(const FeedRecord& record) {
  const std::string bytes = encode(record);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) return fail_errno("standard output");
  return {};
}

}  // namespace

Result<void> Following::run(int input) {
  std::array<char, 4096> some{};
  for (;;) {
    pollfd wanted{input, POLLIN, 0};
    if (::poll(&wanted, 1, kLook_ms) > 0) {
      const ssize_t size = ::read(input, some.data(), some.size());
      if (size == 0 || (size < 0 && errno != EINTR)) return {};
      if (size > 0) LT_CHECK(take_lines({some.data(), static_cast<std::size_t>(size)}));
    }
    LT_CHECK(look());
    if (std::fflush(stdout) != 0) return fail_errno("standard output");
  }
}

Result<void> Following::take_lines(std::string_view lines) {
  partial_ += lines;
  for (std::size_t end = 0; (end = partial_.find('\n')) != std::string::npos; partial_.erase(0, end + 1)) {
    const std::string line = partial_.substr(0, end);
    if (line.size() < 2) continue;
    if (line[0] == '-') frames_.erase(line.substr(1));
    if (line[0] == '+') follow_frames(line.substr(1));
  }
  return {};
}

void Following::follow_frames(const std::string& order) {
  Subscription& frames = frames_[order];
  if (frames || !transport_.is_connected()) return;
  auto made = transport_.subscribe(kStream, order == Feed::kEveryOrder ? kHistSubjects : frames_of(order));
  if (made) frames = *std::move(made);
}

// What was followed at a server that has gone is followed anew, from its beginning: what comes twice changes nothing.
Result<void> Following::begin_again() {
  reconnects_ = transport_.reconnects();
  was_connected_ = true;
  std::ignore = transport_.prepare();  // who may, so that hosts can join
  statuses_.reset();
  for (auto& [order, frames] : frames_) frames.reset();
  tried_ns_ = 0;
  return tell({Kind::kConnected, {}, {}});
}

Result<void> Following::look() {
  if (!transport_.is_connected()) {
    if (was_connected_ != false) LT_CHECK(tell({Kind::kAway, {}, nobody_answers(shown_)}));
    was_connected_ = false;
    return {};
  }
  if (was_connected_ != true || transport_.reconnects() != reconnects_) LT_CHECK(begin_again());
  const std::uint64_t now_ns = arch::monotonic_ns();
  if (now_ns - tried_ns_ > kTryAgain_ns) {
    tried_ns_ = now_ns;
    if (!statuses_) {
      auto made = transport_.subscribe(kStream, kStatusSubjects, Transport::From::kNewest);
      if (made) statuses_ = *std::move(made);
    }
    for (auto& [order, frames] : frames_) follow_frames(order);
  }
  mirror_.look(transport_, arrivals_, now_ns);
  if (mirror_.is_whole() && mirror_.orders() != told_) LT_CHECK(tell_orders());
  if (statuses_) LT_CHECK(tell_news(statuses_, Kind::kStatus));
  for (const auto& [order, frames] : frames_) {
    if (frames) LT_CHECK(tell_news(frames, Kind::kFrame));
  }
  return {};
}

Result<void> Following::tell_orders() {
  for (const auto& [id, json] : mirror_.orders()) {
    const auto told = told_.find(id);
    if (told == told_.end() || told->second != json) LT_CHECK(tell({Kind::kOrder, id, json}));
  }
  for (const auto& [id, json] : told_) {
    if (!mirror_.orders().contains(id)) LT_CHECK(tell({Kind::kGone, id, {}}));
  }
  told_ = mirror_.orders();
  return {};
}

Result<void> Following::tell_news(const Subscription& subscription, Kind kind) const {
  for (int i = 0; i < kMostAtOnce; ++i) {
    if (Transport::waiting(subscription) == 0) return {};
    const auto next = Transport::next(subscription, 1);
    if (!next || !*next) return {};
    LT_CHECK(tell({kind, (*next)->subject, (*next)->bytes}));
  }
  return {};
}

}  // namespace landtrace::fleet
