// The bucket's orders, as a link has heard of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "fleet/serving/arrivals.hpp"
#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

class OrderMirror {
 public:
  using Orders = std::map<std::string, std::string>;

  // Takes what has arrived, and asks for the bucket where it has to: in the beginning, when the transport was connected
  // again, and when it has something of which nothing was heard: who kept the subscription may have gone, or the server
  // have passed over it. The transport is connected and prepared.
  void look(Transport& transport, const std::shared_ptr<Arrivals>& arrivals, std::uint64_t now_ns);
  // Forgets the subscription.
  void reset() { subscription_.reset(); }
  // When it is to be looked at without something that arrives.
  [[nodiscard]] std::uint64_t next_ns() const { return next_ns_; }

  // All of the bucket is known.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] const Orders& orders() const { return orders_; }

 private:
  void subscribe(Transport& transport, const std::shared_ptr<Arrivals>& arrivals);
  void take_all(Arrivals& arrivals);
  void take(Arrivals::Entry entry);
  void become_whole();
  [[nodiscard]] bool has_wanted() const;
  [[nodiscard]] bool has_all_of(const Transport::BucketState& bucket) const;
  bool check(Transport& transport, Arrivals& arrivals);

  Subscription subscription_;
  std::uint64_t number_ = 0;  // of the subscription
  std::uint64_t reconnects_ = 0;
  std::uint64_t next_ns_ = 0;
  // Of the subscription:
  std::uint64_t begun_ns_ = 0;
  std::optional<Transport::Sequence> begin_;      // behind it each entry comes; nullopt: not known
  std::optional<Transport::BucketState> wanted_;  // what the bucket had when it was made; nullopt: nobody said
  Transport::Sequence newest_ = 0;
  bool is_last_ = false;       // as the newest entry says of itself
  bool has_gap_ = false;       // behind begin_
  std::set<std::string> ids_;  // that were heard of, those that are gone with them
  bool is_whole_ = false;
  Orders orders_;
};

// All orders that the bucket has, now. Not by libnats' watcher of a bucket: at each order that has ended, that of
// libnats 3.4 takes the time since its beginning off the time that it may wait. A few hundred of them are its end.
Result<OrderMirror::Orders> orders_of(Transport& transport);

}  // namespace landtrace::fleet
