// Grace periods: when may the owner free what it has replaced? When no producer can still hold it (see
// plan/section.hpp for the other half).
//
//   after_readers()  --->  fresh  --- barrier --->  batches  ----------------------------------> freed
//                                                      |  a reader is still inside after kPatience
//                                                      v
//                                                   late, by user: what this user's readers may hold
//
// A reader that stays inside (a program in a debugger, a frozen container, a user who pretends) makes its user late.
// From then on it delays what this user's producers may hold, and nothing else: slots of others' events and files are
// free at the end of their batch.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "segments/room_maker.hpp"
#include "segments/users.hpp"

namespace landtrace::segments {

// How long producers that are stopped in the middle are waited for by others than their own user.
inline constexpr std::chrono::milliseconds kPatience{200};

// Who may hold what was replaced, for longer than kPatience.
struct Holders {
  // By uid; nullopt: whoever there is.
  std::optional<std::vector<std::uint32_t>> uids;
  // Lies in data segments: a reader that comes back late spoils memory of its own user alone. So it is kept for late
  // readers only until there is need of it.
  bool until_needed = false;

  static Holders anybody() { return {std::nullopt, false}; }
  static Holders these(std::vector<std::uint32_t> uids) { return {std::move(uids), false}; }
  static Holders of_own_memory() { return {std::nullopt, true}; }
  // These may hold it, too.
  void add(const Holders& others);
};

class Grace final : public RoomMaker {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Grace(const Users& users) : users_(users) {}

  // Runs `free` once every producer that may hold the old object has left its section. The replacement must have
  // been published before the call.
  void after_readers(std::function<void()> free, Holders holders = Holders::anybody());

  // Runs what is due. Cheap when nothing waits. True while something still waits. What is kept and done is bounded,
  // also where a user's segment is full of readers that do not exist.
  bool poll(Clock::time_point now = Clock::now());
  [[nodiscard]] bool is_waiting() const { return has_fresh() || !waiting_.empty() || !held_.empty(); }
  // Something came since the last poll().
  [[nodiscard]] bool has_fresh() const { return !fresh_.empty(); }
  // How many groups of frees wait, each for readers of its own.
  [[nodiscard]] std::size_t batches() const { return waiting_.size(); }
  // How many things wait for this user's readers alone, or for theirs too.
  [[nodiscard]] std::size_t held_by(std::uint32_t uid) const;
  // … and with it what waits for the end of a batch and names this user as a holder: of that there can be much before
  // anybody is late.
  [[nodiscard]] std::size_t waiting_of(std::uint32_t uid) const;
  // ENOSPC where so much waits for the user's programs that no more is to be replaced for their sake: what a user asks
  // for again and again, while a thread of theirs is inside, must not fill what all share.
  static constexpr std::size_t kMaxWaiting = 4096;
  Result<void> check_room(std::uint32_t uid);
  // Somebody needs room: what is kept only until then goes. True if there was any.
  bool give_way() override;
  // There is no other room in the control segment at all: what late readers hold goes, though a program that was
  // stopped in an event all the time may read something else there when it goes on. First what is held for one user
  // alone, of the user with most of it; where there is none such, everything. True if there was any: call again.
  bool give_way_entirely() override;

  // Polls until nothing waits; false after `limit` (a stopped producer may be inside).
  bool drain(std::chrono::milliseconds limit);
  // Waits, for a little while, until no producer is inside what was published before: what was taken away has no effect
  // any more. One that is stopped there, or waits for a CPU, is not waited for.
  void settle(std::chrono::milliseconds limit = std::chrono::milliseconds(1));

  // A slot in memory that is the owner's alone, for a thread of the owner that enters sections: no user can deny that
  // it is inside. Stays where it is.
  plan::ThreadSlot& take_own_slot();
  static void give_back(plan::ThreadSlot& own);

 private:
  struct Inside {
    const plan::ThreadSlot* slot;
    std::uint64_t section;
    std::uint32_t pid;
    std::uint32_t tid;
    Clock::time_point patience_ends;
    // Its process had not got the barriers: whether it is inside is found out when it has.
    bool unregistered;
  };
  struct Free {
    std::function<void()> run;
    Holders holders;
  };
  struct Batch {
    std::vector<Free> frees;
    std::map<std::uint32_t, std::vector<Inside>> inside;  // by uid
    std::vector<Inside> own;
    Clock::time_point next_check{};  // of whether the readers live
  };
  // What late readers hold; in the lists of one or more users.
  struct Held {
    std::function<void()> run;
    bool until_needed;
    std::size_t lists;
  };
  struct LateUser {
    std::vector<Inside> inside;  // in the order of the slots
    std::vector<std::shared_ptr<Held>> now, next;
    Clock::time_point next_check{};
    Clock::time_point ends{};  // of being late, when nobody is inside any more
  };

  void look_for_readers(Batch& batch, Clock::time_point now) const;
  void queue_fresh(Clock::time_point now);
  void look_after(LateUser& user, std::uint32_t uid, Clock::time_point now);
  void look_after(Batch& batch, Clock::time_point now);
  void release(std::vector<std::shared_ptr<Held>>& list);
  void end(Batch batch);
  void count_named(const Holders& holders, bool comes);
  // Those of `held` go.
  bool let_go(const std::vector<std::shared_ptr<Held>>& held);

  const Users& users_;
  std::vector<Free> fresh_;  // not yet behind a barrier
  std::deque<Batch> waiting_;
  std::map<std::uint32_t, std::size_t> named_;  // of fresh_ and waiting_, how many name a user; by uid
  std::map<std::uint32_t, LateUser> late_;      // by uid
  std::deque<std::shared_ptr<Held>> held_;      // the oldest first
  std::deque<plan::ThreadSlot> own_;
};

}  // namespace landtrace::segments
