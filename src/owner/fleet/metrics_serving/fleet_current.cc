#include "fleet/metrics_serving/fleet_current.hpp"

#include "arch/clock.hpp"

namespace landtrace::fleet {
namespace {

using Kind = FeedRecord::Kind;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFreshFor{100};
constexpr int kPace = 4;  // who asks often costs no more than a part of the time

bool is_counted(const Order& order) { return order.kind == Order::Kind::kHist || order.kind == Order::Kind::kLatency; }

}  // namespace

void FleetCurrent::take(Feed& feed, const std::vector<FeedRecord>& records) {
  const std::lock_guard lock(mutex_);
  for (const FeedRecord& record : records) take_one(feed, record);
}

void FleetCurrent::lose() {
  const std::lock_guard lock(mutex_);
  is_connected_ = false;
  orders_.clear();
}

void FleetCurrent::take_one(Feed& feed, const FeedRecord& record) {
  switch (record.kind) {
    case Kind::kConnected:
    case Kind::kAway:
      is_connected_ = record.kind == Kind::kConnected;
      was_connected_ = was_connected_ || is_connected_;
      roster_.begin_again();
      break;
    case Kind::kStatus:
      roster_.take(record.name, record.bytes, Moment::now());
      break;
    case Kind::kOrder: {
      auto order = order_of(record.bytes);
      if (!order) break;
      order->id = record.name;
      if (is_counted(*order)) feed.follow(record.name);
      orders_.insert_or_assign(record.name, *std::move(order));
      break;
    }
    case Kind::kGone:
      feed.leave(record.name);
      orders_.erase(record.name);
      forget_ended();
      break;
    case Kind::kFrame:
      std::ignore = sums_.add(record.name, record.bytes);
      break;
  }
}

// Hosts send their last frames when they hear that an order has ended, which may be after it was heard of here.
void FleetCurrent::forget_ended() {
  for (const std::string& order : sums_.orders()) {
    if (!orders_.contains(order)) sums_.forget(order);
  }
}

Result<std::vector<metrics::Family>> FleetCurrent::families() {
  const std::lock_guard lock(mutex_);
  if (!was_connected_) return fail(EAGAIN, "the fleet cannot be reached yet");
  const Time begin = Clock::now();
  if (begin < next_) return made_;
  if (is_connected_) forget_ended();
  const std::uint64_t now_ns = arch::monotonic_ns();
  std::ignore = roster_.forget_silent(now_ns);
  FleetFigures figures{.is_connected = is_connected_, .roster = roster_, .orders = orders_, .now_ns = now_ns};
  HostRoom room(sums_.most_host_bytes());
  for (const std::string& order : sums_.orders()) figures.counts[order] = spreads_of(sums_, order, by_, room);
  made_ = families_of(figures);
  next_ = Clock::now() + std::max<Clock::duration>(kFreshFor, kPace * (Clock::now() - begin));
  return made_;
}

}  // namespace landtrace::fleet
