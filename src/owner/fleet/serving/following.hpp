// `landtrace-fleet follow`: hands on what happens in a fleet, for a program that shows it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fleet/feed_record.hpp"
#include "fleet/serving/order_mirror.hpp"
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
  Result<void> tell_orders();
  Result<void> tell_news(const Subscription& subscription, FeedRecord::Kind kind) const;
  void follow_frames(const std::string& order);

  Transport transport_;
  const std::string shown_;
  std::optional<bool> was_connected_;
  std::uint64_t reconnects_ = 0;
  std::uint64_t tried_ns_ = 0;    // when what could not be followed was tried
  std::string partial_;           // line
  Subscription statuses_;
  std::map<std::string, Subscription> frames_;  // by order; null: it could not be yet
  OrderMirror mirror_;
  std::shared_ptr<Arrivals> arrivals_ = std::make_shared<Arrivals>();
  OrderMirror::Orders told_;
};

}  // namespace landtrace::fleet
