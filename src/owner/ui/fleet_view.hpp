// The fleet behind the live page: who is there, what is to be done, what was counted. While nobody looks, nothing is
// followed.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/feed.hpp"
#include "fleet/order.hpp"
#include "fleet/roster.hpp"
#include "fleet/sums.hpp"
#include "ui/fleet_counts.hpp"
#include "ui/tasks.hpp"

namespace landtrace::ui {

class FleetView {
 public:
  struct Options {
    std::string helper;   // landtrace-fleet
    std::string program;  // landtrace
    std::string servers;  // as they may be shown
  };
  explicit FleetView(Options options) : options_(std::move(options)), tasks_(options_.program, "") {}

  // Takes what has come. True: there is news.
  bool look();
  // The same while no page is there to be told.
  void look_unwatched();
  // What pages are told: a JSON object. Hosts that have changed since the last time, or all.
  std::string news(bool all);

  // Numbers of the hosts for which the expression is true, as JSON. EINVAL: what is wrong with it, and where.
  [[nodiscard]] Result<std::string> choose(const std::string& where) const;
  // What was counted for an order, by these names with commas between them: JSON. Follows the order from then on, for
  // as long as somebody asks. EINVAL: nothing that an order is called.
  Result<std::string> counts(const std::string& order, const std::string& by);

  // One record. Others are told of what it changes.
  void take(const fleet::FeedRecord& record);
  Tasks& tasks() { return tasks_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Followed {
    Time asked{};
    FleetCounts counts;
  };

  void begin(Time now);
  void leave_unasked(Time now);

  Options options_;
  Tasks tasks_;
  std::optional<fleet::Feed> feed_;
  Time next_begin_{};
  Time unwatched_since_{};
  bool is_connected_ = false;
  std::string said_ = "connecting";  // of the transport, while it is away
  fleet::Roster roster_;
  std::map<std::string, fleet::Order> orders_;
  std::set<std::string> refused_orders_;  // that make no sense
  std::map<std::string, Followed> followed_;
  std::set<fleet::Roster::Name> changed_;
  std::vector<std::uint64_t> gone_;  // numbers of hosts that were forgotten
  bool orders_have_changed_ = false;
  bool state_has_changed_ = true;
};

}  // namespace landtrace::ui
