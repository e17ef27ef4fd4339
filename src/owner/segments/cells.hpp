// The soft state of a domain: switches and counters that triggers change in producers, at once and without the owner.
// Each user's data segment has all of them (plan::Cell); here is what they say together, and how one user's changes
// reach the others.
//
// A guest may write whatever it likes to all of them. So of a guest's changes only those count that a trigger may have
// made: the owner keeps for each cell which events have such a trigger. Who emits these is not asked: any program may
// register them, and a file goes on to whomever its program gives it. All else of what stands in a guest's segment
// changes nothing for others.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "arch/clock.hpp"
#include "plan/cells.hpp"
#include "segments/room_maker.hpp"
#include "segments/users.hpp"

namespace landtrace::segments {

// Whose changes of cells count, whatever they change.
class CellWriters {
 public:
  virtual bool are_trusted(std::uint32_t uid) = 0;

 protected:
  ~CellWriters() = default;
};

class Cells {
 public:
  Cells(Users& users, arch::RawClock clock) : users_(users), clock_(clock) { cells_.emplace_back(); }

  // Makes room, if it can, where there is none.
  void set_room_maker(RoomMaker* maker) { room_maker_ = maker; }
  // Without, everybody's changes count.
  void set_writers(CellWriters* writers) { writers_ = writers; }
  // ENOSPC.
  Result<std::uint32_t> take_switch(bool thrown);
  Result<std::uint32_t> take_counter();
  // When no plan names it any more.
  void give_back(std::uint32_t cell);
  // A trigger of the event may change the cell, from here on, or no more: behind the producers that may run it.
  void add_writer(std::uint32_t cell, std::uint32_t event);
  void drop_writer(std::uint32_t cell, std::uint32_t event);
  // What was changed until now stays, whatever becomes of the events.
  void remember(std::uint32_t cell);

  [[nodiscard]] bool is_thrown(std::uint32_t cell) const;
  // Of two switches: what the newest throw of either says. Cell 0 has none.
  [[nodiscard]] bool is_thrown(std::uint32_t one, std::uint32_t other) const;
  void set_switch(std::uint32_t cell, bool thrown);
  // How often all users' producers, and the owner, did it.
  [[nodiscard]] std::uint64_t count_of(std::uint32_t cell) const;
  void count_one_more(std::uint32_t cell);

  // The user with this index goes: what its producers did is the owner's from here on.
  void take_over(std::size_t index);
  // Carries over to every user's segment what the others' producers did.
  void spread();

 private:
  struct State {
    bool is_switch = false;
    bool in_use = false;
    std::uint64_t own = 0;  // the owner's part: the newest throw that it knows, or how often it counted
    std::vector<std::uint32_t> events = {};  // slots of those with a trigger that changes it, one for each trigger
    // By a user's index, how often it counted when that was remembered last: all that counts of who may no more.
    std::map<std::size_t, std::uint64_t> remembered = {};
  };
  Result<std::uint32_t> take(State state);
  // Pairs with the releases in plan/cells.hpp: what was done before a throw or a count is seen, such as the records
  // before a snapshot.
  [[nodiscard]] static std::uint64_t own_of(const User& user, std::uint32_t cell) {
    return __atomic_load_n(&user.data().cells[cell].own, __ATOMIC_ACQUIRE);
  }
  [[nodiscard]] bool may_change(const State& state, std::uint32_t uid) const;
  void take_back_what_does_not_count(std::uint32_t cell) const;
  [[nodiscard]] std::uint64_t newest_throw(std::uint32_t cell) const;
  // How often the user, who has this index, did it.
  [[nodiscard]] std::uint64_t count_by(std::size_t index, const User& user, std::uint32_t cell) const;
  void spread(std::uint32_t cell) const;

  Users& users_;
  arch::RawClock clock_;
  std::vector<State> cells_;
  std::vector<std::uint32_t> free_;
  RoomMaker* room_maker_ = nullptr;
  CellWriters* writers_ = nullptr;
};

}  // namespace landtrace::segments
