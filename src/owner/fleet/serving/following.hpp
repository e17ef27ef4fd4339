// `landtrace-fleet follow`: hands on what happens in a fleet, for a program that shows it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "fleet/feed_record.hpp"
#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

class Following {
 public:
  // `shown` says where the servers are, without users.
  Following(Transport transport, std::string shown) : transport_(std::move(transport)), shown_(std::move(shown)) {}

  // Records to standard output, until `input` has ended. From there come lines: "+ORDER" for the frames of an order,
  // "+>" for those of all, "-ORDER" for no more. EPIPE: nobody reads.
  Result<void> run(int input);

 private:
  Result<void> begin_again();
  Result<void> look();
  Result<void> take_lines(std::string_view lines);
  Result<void> look_at_orders();
  Result<void> tell_orders();
  Result<void> tell_news(const Subscription& subscription, FeedRecord::Kind kind) const;
  void watch_orders();
  void follow_frames(const std::string& order);

  Transport transport_;
  const std::string shown_;
  std::optional<bool> was_connected_;
  std::uint64_t reconnects_ = 0;
  std::uint64_t tried_ns_ = 0;    // when what could not be followed was tried
  std::uint64_t watched_ns_ = 0;  // when the bucket was read from its beginning
  std::string partial_;           // line
  Subscription statuses_;
  std::map<std::string, Subscription> frames_;  // by order; null: it could not be yet
  Watcher watcher_;
  bool has_seen_all_ = false;
  std::map<std::string, std::string> seen_;  // orders since then
  std::map<std::string, std::string> told_;
};

}  // namespace landtrace::fleet
