// A host's connection to its fleet: what traces never waits for the network. Its rounds are in a thread of others; what
// libnats brings comes in one of its own, and waits for a round in Arrivals.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fleet/outbox.hpp"
#include "fleet/rounds.hpp"
#include "fleet/serving/arrivals.hpp"
#include "fleet/serving/order_mirror.hpp"
#include "fleet/serving/transport.hpp"
#include "fleet/snapshot_parts.hpp"

namespace landtrace::fleet {

class Link {
 public:
  // `changed` is called, in any thread, when new_orders() has some, and behind answers of ask_for_time().
  Link(Address address, std::string name, std::size_t most_bytes, std::function<void()> changed);
  // Sends what waits first, for as long as kLastWords at most.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Once. EINVAL, EIO: it can never be. `rounds` outlives this.
  Result<void> start(Rounds& rounds);
  // Nothing more will be sent: what waits has kLastWords from now on.
  void finish();

  // Thread-safe. What was put there under one subject before and was not sent yet is not sent any more.
  // False: there is no room for it.
  bool send(Outbox::Letter letter);
  // The same for who sends it later where there is no room: it stays, and is not counted in unsent().
  bool send_if_room(Outbox::Letter& letter);
  // To who listens now; what waits too long, or is a line longer than a message may be, is dropped, and counted in
  // unsent().
  void tell(ToldLines lines);
  // Asks there what time it is, several times. `answered` is called in the link's thread; nullopt: nobody answers.
  using TimeAnswered = std::function<void(std::optional<ClockOffset>)>;
  void ask_for_time(std::string subject, TimeAnswered answered);
  // A file in parts, with what is known of it behind them. One that cannot be sent by `until_ns`, of the monotonic
  // clock, is dropped, and counted in unsent(). EBUSY: others wait.
  struct Parcel {
    std::string order = {};  // who wants it: without that nobody does
    std::string subject;     // ".K" follows
    std::string file;
    SnapshotEnd end;
    std::uint64_t until_ns = 0;
  };
  Result<void> send(Parcel parcel);
  // The bucket's orders by their ids, if they are others than at the last call.
  std::optional<std::map<std::string, std::string>> new_orders();
  // What never will be sent.
  [[nodiscard]] std::uint64_t unsent() const;
  // So many that found no room with send_if_room() never will be.
  void count_unsent(std::uint64_t letters);
  // That a message may have; before the server has said so, what servers usually take.
  [[nodiscard]] std::size_t most_bytes() const;
  // Nothing waits or is on its way.
  [[nodiscard]] bool has_sent_all() const;

 private:
  std::uint64_t round();
  void ring();
  [[nodiscard]] std::uint64_t next_round_ns(std::uint64_t now_ns) const;
  bool is_prepared();
  void look_for_orders(std::uint64_t now_ns);
  void take_answers(std::uint64_t now_ns);
  void take_back(std::uint64_t number);
  void forget(std::uint64_t number);
  bool send_one(std::uint64_t now_ns);
  std::optional<Outbox::Letter> next_letter();
  bool tell_one();
  std::optional<ToldLines> next_lines();
  void send_some_of_parcel();
  bool take_parcel();
  void put_parcel_off(const Error& why);
  bool answer_one_question();
  [[nodiscard]] std::optional<ClockOffset> compare_clocks(const std::string& subject) const;

  const Address address_;
  const std::string name_;
  const std::function<void()> changed_;
  Rounds* rounds_ = nullptr;
  Rounds::Member member_ = 0;
  std::optional<Transport> transport_;

  // Its rounds'.
  bool is_prepared_ = false;
  std::uint64_t reconnects_ = 0;
  const std::shared_ptr<Arrivals> arrivals_;
  Subscription answers_;
  std::string replies_;  // what answers come to, with ".N" behind it
  OrderMirror mirror_;
  // Is on its way: nobody knows yet whether the stream has it.
  struct Flying {
    Outbox::Letter letter;
    std::uint64_t sent_ns = 0;
  };
  std::map<std::uint64_t, Flying> flying_;  // by N
  std::size_t flying_bytes_ = 0;
  std::uint64_t next_number_ = 1;
  bool is_doubtful_ = true;  // the last one did not arrive: one at a time
  // For an answer of the stream. It doubles where there is none: who is overloaded would have more to do.
  static constexpr std::uint64_t kPatience_ns = 2'000'000'000;
  [[nodiscard]] std::uint64_t overdue_ns(const Flying& flying) const;
  std::uint64_t patience_ns_ = kPatience_ns;
  std::uint64_t answered_ns_ = 0;            // of the monotonic clock: the last answer
  std::uint64_t pause_until_ns_ = 0;         // of the monotonic clock: what was refused is not sent again before
  std::optional<Parcel> parcel_;             // that is being sent
  std::uint64_t sent_bytes_ = 0;             // of its file
  std::size_t part_bytes_ = kMostPartBytes;  // of its next part
  std::uint64_t parcel_waits_until_ns_ = 0;  // of the monotonic clock: what was refused is not sent again before
  std::uint64_t parcel_wait_ns_ = 0;         // … the last time

  // With mutex_.
  [[nodiscard]] bool is_empty() const;
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::uint64_t last_words_until_ns_ = 0;  // 0: it goes on
  bool has_letters_flying_ = false;
  Outbox outbox_;
  std::deque<Outbox::Letter> parts_;  // of the frame that is being sent, before all else
  std::deque<ToldLines> told_;
  std::deque<Parcel> parcels_;
  std::deque<std::pair<std::string, TimeAnswered>> questions_;
  std::uint64_t too_large_ = 0;
  std::uint64_t given_up_ = 0;
  std::uint64_t untold_ = 0;
  std::map<std::string, std::string> orders_;
  bool orders_are_new_ = false;
};

}  // namespace landtrace::fleet
