// What is served: a fleet's metrics. What happens in it is followed all the time.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fleet/feed.hpp"
#include "fleet/fleet_families.hpp"
#include "metrics/serving/served.hpp"

namespace landtrace::fleet {

class FleetCurrent : public metrics::Served {
 public:
  // `by`: labels of hosts and keys of histograms, by which these are told.
  explicit FleetCurrent(std::vector<std::string> by) : by_(std::move(by)) {}

  // One thread.
  void take(Feed& feed, const std::vector<FeedRecord>& records);
  // The program that says what happens has ended.
  void lose();

  // Any thread. EAGAIN until the fleet was reached for the first time.
  Result<std::vector<metrics::Family>> families() override;

 private:
  using Time = std::chrono::steady_clock::time_point;

  void take_one(Feed& feed, const FeedRecord& record);
  void forget_ended();

  const std::vector<std::string> by_;
  std::mutex mutex_;
  bool is_connected_ = false;
  bool was_connected_ = false;
  Roster roster_;
  std::map<std::string, Order> orders_;
  Sums sums_;
  std::vector<metrics::Family> made_;
  Time next_{};  // before that they are not made again
};

}  // namespace landtrace::fleet
