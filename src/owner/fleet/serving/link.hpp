// A host's connection to its fleet, in a thread of its own: what traces never waits for the network.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "fleet/outbox.hpp"
#include "fleet/serving/transport.hpp"
#include "fleet/snapshot_parts.hpp"

namespace landtrace::fleet {

class Link {
 public:
  Link(Address address, std::string name, std::size_t most_bytes);
  // Sends what waits first, for as long as kLastWords at most.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Once. EINVAL, EIO: it can never be.
  Result<void> start();

  // Thread-safe. What was put there under one subject before and was not sent yet is not sent any more.
  // False: there is no room for it.
  bool send(Outbox::Letter letter);
  // To who listens now; what waits too long is dropped, and counted in unsent().
  void tell(Outbox::Letter letter);
  // Asks there what time it is, several times. `answered` is called in the link's thread; nullopt: nobody answers.
  using TimeAnswered = std::function<void(std::optional<ClockOffset>)>;
  void ask_for_time(std::string subject, TimeAnswered answered);
  // A file in parts, with what is known of it behind them. One that cannot be sent by `until_ns`, of the monotonic
  // clock, is dropped, and counted in unsent(). EBUSY: others wait.
  struct Parcel {
    std::string subject;  // ".K" follows
    std::string file;
    SnapshotEnd end;
    std::uint64_t until_ns = 0;
  };
  Result<void> send(Parcel parcel);
  // The bucket's orders by their ids, if they are others than at the last call.
  std::optional<std::map<std::string, std::string>> new_orders();
  // What never will be sent.
  [[nodiscard]] std::uint64_t unsent() const;

 private:
  void run();
  bool is_prepared();
  void look_for_orders();
  void take_entry(kvEntry* entry);
  bool send_one();
  std::optional<Outbox::Letter> next_letter();
  bool tell_one();
  void send_some_of_parcel();
  bool take_parcel();
  bool answer_one_question();
  [[nodiscard]] std::optional<ClockOffset> compare_clocks(const std::string& subject) const;

  const Address address_;
  const std::string name_;
  std::optional<Transport> transport_;
  std::thread thread_;
  // The store of ~Link() pairs with the loads of run().
  std::atomic<bool> is_over_{false};

  // The thread's.
  bool is_prepared_ = false;
  std::uint64_t reconnects_ = 0;
  std::uint64_t watched_since_ns_ = 0;
  Watcher watcher_;
  std::map<std::string, std::string> seen_;  // orders, while the bucket is read from its beginning
  bool has_seen_all_ = false;
  std::optional<Parcel> parcel_;  // that is being sent
  std::uint64_t sent_bytes_ = 0;  // of its file

  mutable std::mutex mutex_;
  Outbox outbox_;
  std::deque<Outbox::Letter> parts_;  // of the frame that is being sent, before all else
  std::deque<Outbox::Letter> told_;
  std::deque<Parcel> parcels_;
  std::deque<std::pair<std::string, TimeAnswered>> questions_;
  std::uint64_t too_large_ = 0;
  std::uint64_t untold_ = 0;
  std::map<std::string, std::string> orders_;
  bool orders_are_new_ = false;
};

}  // namespace landtrace::fleet
