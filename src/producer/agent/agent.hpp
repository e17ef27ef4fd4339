// Carries recipes out in this process: writes the jumps at the places that are wanted, in the objects that are mapped
// now and in those that come, and takes them out again. For one thread at a time, which need not be the same always;
// its own hits are left out by ignore_this_thread().
//
//   set_handlers({hit, returned});
//   Agent agent;
//   agent.apply(wanted, outcomes);          what is not mapped yet is kept in mind
//   agent.look_at_objects();                when loader_changes().changed has risen, or now and then
//   agent.tend();                           ten times a second or so
//   agent.drop(numbers);
//
//     agent.cc       places that are wanted, and what became of them; objects that come and go
//     planning.cc    what is to be written at each: may it be probed, its stub, its jump or the bytes that were there
//     crowded.cc     places for which others have no room
//     writing.cc     writes all that; where threads may be, by other_threads.hpp
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "agent/data_plane.hpp"
#include "agent/maps.hpp"
#include "agent/near_memory.hpp"
#include "agent/other_threads.hpp"
#include "agent/recipe.hpp"
#include "agent/site.hpp"
#include "agent/stubs.hpp"

namespace landtrace::agent {

struct Wanted {
  ObjectId object;
  std::uint64_t offset;  // in the file
  const Recipe* recipe;  // copied
  std::uint32_t number;  // what the handlers are told; one place has one number
  std::uint32_t wants;   // kWantsEntry, kWantsReturn
  std::uint32_t limit = 0;
  std::int64_t counter = 0;  // how far the place's reference counter is from it; 0: it has none
};

enum class PlaceState : std::uint8_t {
  kPatched,
  kWaiting,  // its object is not mapped
  kRefused,
};
enum class Reason : std::uint8_t {
  kNone,
  kNotThisMachine,
  kRecipe,        // its refusal says why
  kBytesDiffer,   // from the file's: something else has changed them, or a debugger stands there
  kNoRoom,        // no executable memory near by, or none is allowed
  kOutOfReach,    // what the copy refers to is
  kProtected,     // the page cannot be made writable
  kOwnCode,       // of the tracer
  kOverlaps,      // with a place that is patched
  kShadowStack,   // a return probe where the CPU compares return addresses
  kNotPermitted,  // threads run, and the system does not let them be looked at
  kTraced,        // threads run, and a debugger has them
  kBusy,          // a thread was within the bytes each time
};
struct Outcome {
  PlaceState state = PlaceState::kWaiting;
  Reason reason = Reason::kNone;
  Way way = Way::kRefused;      // how the jump was written
  std::uint32_t addresses = 0;  // at so many: a file may be mapped more than once
};

struct AgentCounters {
  std::uint64_t stops = 0;  // how often threads were stopped
  std::uint64_t longest_stop_ns = 0;
  std::uint64_t threads_stopped = 0;
  std::uint64_t stub_memory = 0;  // bytes
};

class Agent {
 public:
  // The agent's own object is left alone, unless it is a test.
  enum class OwnObject : std::uint8_t { kLeaveAlone, kPatch };
  explicit Agent(OwnObject own = OwnObject::kLeaveAlone);
  // Takes all jumps out. Calls whose return is probed go on to come back through this object's code.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Adds places, or changes what is wanted of those that are there by their numbers. `outcomes` has as many elements.
  void apply(std::span<const Wanted> wanted, std::span<Outcome> outcomes);
  // From here on their hits are not handed on, and as soon as possible cost nothing.
  void drop(std::span<const std::uint32_t> numbers);
  [[nodiscard]] Outcome outcome(std::uint32_t number) const;
  [[nodiscard]] std::uint64_t missed(std::uint32_t number) const;

  // The addresses of all places that are patched.
  void see_patched(void (*see)(void* self, std::uint64_t address), void* self) const;

  // Patches what has come, and forgets, without writing to it, what is gone.
  void look_at_objects();
  // Whether the loader says by itself when objects come and go: see loader_changes(). Else look_at_objects() is cheap
  // when nothing has changed, and is to be called now and then.
  [[nodiscard]] bool hears_of_objects() const { return loader_ != nullptr; }
  // Patches the loader's function that says that objects come and go. False where it is not as expected.
  bool listen_to_loader();

  // Slots of threads that are gone, and of calls that were left, when there is no plenty; stubs of objects that are
  // gone.
  void tend();
  // In a forked child, before anything else there.
  void after_fork();
  // No place in the object in which this address lies.
  void keep_off(const void* address);
  [[nodiscard]] AgentCounters counters() const;

 private:
  // A stub. It is kept when its place is not wanted any more: a thread may be in it, and the place may come back.
  struct Known {
    std::uint64_t address;  // of the place
    Recipe recipe;
    Form form;
    std::uint64_t code;  // where the jump goes, over the padding at `spring` if that is not 0
    std::uint64_t spring;
    // Where the instructions are, as moved, that begin so many bytes behind the jump's beginning; 0: none.
    std::uint64_t moved[kJumpSize];
    std::unique_ptr<Site> site;
    std::uint64_t gone_since = 0;  // when its object was unmapped, in ns; 0: it is there
    // Other places within the displaced instructions, which have no jump of their own; ascending.
    struct Inner {
      std::uint32_t distance;  // from the jump's beginning
      std::unique_ptr<Site> site;
    };
    std::vector<Inner> inner{};

    [[nodiscard]] bool is_wanted() const;
    [[nodiscard]] std::vector<std::uint32_t> distances() const;
    [[nodiscard]] Site* site_of(std::uint64_t place) const;  // nullptr: none is there
  };
  // A place at one address: that of its own jump, though it may use another's.
  struct Patched {
    Known* known;
    Way way;
    std::uint64_t address;
    Site* site;
    std::uint64_t counter = 0;  // that was raised for it; 0: none
  };
  struct Place {
    ObjectId object;
    std::uint64_t offset;
    Recipe recipe;
    std::uint32_t number;
    std::uint32_t wants;
    std::uint32_t limit;
    std::int64_t counter = 0;
    std::vector<Patched> patched;
    Reason reason = Reason::kNone;
  };
  // A jump to be written, or the bytes that were there.
  struct Job {
    Place* place;
    Known* known;
    std::uint8_t bytes[kJumpSize];
    Way way;
    bool is_jump;
    std::uint32_t size = kJumpSize;  // of what is written
    bool done = false;
    Reason reason = Reason::kBusy;
  };

  Place* find(std::uint32_t number);
  [[nodiscard]] const Place* find(std::uint32_t number) const;
  void carry_out();
  void forget_gone(Place& place, std::span<const std::uint64_t> addresses);
  void plan(Place& place, std::span<const std::uint64_t> addresses, std::vector<Job>& jobs);
  Reason check(const Place& place, std::uint64_t address) const;
  Known* stub_for(const Place& place, std::uint64_t address, Reason& reason, const Known* before);
  // What a stub is to be. `number`: that of the first place's.
  struct StubShape {
    const Recipe& recipe;
    std::uint64_t address;
    Form form;
    std::uint32_t number;
    std::vector<std::uint32_t> inner;  // distances of further places
  };
  Known* make_stub(const StubShape& shape, Reason& reason);
  Known* reusable(const StubShape& shape);
  // Places for which others have no room (crowded.cc).
  struct Crowded {
    Place* place;
    std::uint64_t address;
  };
  bool make_room();
  bool share_jump(const Crowded& one);
  Known* find_host(const Crowded& one);
  bool add_to_host(Known& host, const Crowded& one);
  bool clear_way(const Crowded& one);
  void prepare(const Known& before, Known& now);
  void move_places(Known& before, Known& now);
  static void set_site(Site& site, const Place& place);
  void set_jump(Job& job) const;
  void plan_removal(Place& place, std::vector<Job>& jobs);
  void plan_removal(Known& known, std::vector<Job>& jobs);
  void count_places();
  static void stop_counting(Place& place);
  static void leave_counting(Patched& patched);
  void try_left_again();
  void leave_for_later(std::uint64_t address);
  void write(std::vector<Job>& jobs);
  void write_locked(std::vector<Job>& jobs);
  void write_stopped(std::vector<Job*>& jobs);
  void settle(std::vector<Job>& jobs);
  [[nodiscard]] bool has_our_jump(std::uint64_t address, const Recipe& recipe) const;
  Reason check_spring(const Recipe& recipe, std::uint64_t address) const;
  [[nodiscard]] bool overlaps(std::uint64_t address, std::uint64_t size) const;
  Outcome outcome_of(const Place& place) const;

  Objects objects_;
  NearMemory memory_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<Crowded> crowded_;
  std::multimap<std::uint64_t, std::unique_ptr<Known>> known_;
  std::map<std::uint64_t, std::uint32_t> occupied_;  // address -> bytes
  // Padding that has a jump of ours, and of which place. It keeps it when the place's jump is taken out: a thread
  // may be on its way.
  std::map<std::uint64_t, std::uint64_t> springs_;
  std::vector<std::uint64_t> kept_off_;
  // Whose jumps could not be taken out yet. They lead through stubs that do nothing.
  std::vector<Known*> left_;
  std::unique_ptr<Place> loader_;
  std::uint64_t loader_state_ = ~0ull;  // how many objects the loader has added and taken away
  AgentCounters counters_;
};

const char* text_of(Reason reason);

}  // namespace landtrace::agent
