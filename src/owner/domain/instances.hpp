// Instances: each has rings of its own and listens to events of its own choice.
#pragma once

#include <bitset>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/clock.hpp"
#include "domain/attachment.hpp"
#include "domain/segment_names.hpp"
#include "ring/layout.hpp"

namespace landtrace::domain {

// An instance's rings, as they lie in shared memory.
struct RingPlace {
  ring::Geometry geometry;
  bool overwrite = true;
  std::uint64_t rings = 0;     // offset in data segments
  std::uint32_t consumed = 0;  // offset of std::uint64_t[kMaxUsers][rings of a set] in the control segment
};

// Threads whose events an instance takes, or does not take. An empty list that is set lets nobody (or everybody)
// through.
struct ThreadFilter {
  std::optional<std::vector<std::uint32_t>> only;  // ascending
  std::optional<std::vector<std::uint32_t>> never;
  bool follows_forks = false;   // the option event-fork
  std::uint32_t published = 0;  // offset of the plan::ThreadList in the control segment; 0: no filter

  [[nodiscard]] bool is_set() const { return only || never; }
};

// Two sets of rings that triggers exchange: the instance records into the one that the parity of a counter says.
struct Flip {
  std::uint32_t counter;  // cell
  RingPlace places[2];
};

// Whoever keeps an instance's buffer, and with it the snapshot.
class SnapshotKeeper {
 public:
  virtual ~SnapshotKeeper() = default;
  // Makes rings for snapshots to be had at any time and sets Instance::flip, or lets go of them.
  virtual Result<void> arm_snapshot(bool armed) = 0;
  // The user with this index goes, and its rings: what is unread there is lost, and counts as that.
  virtual void user_goes(std::uint32_t user) = 0;
};

// Whoever keeps an instance's trace_clock.
class ClockKeeper {
 public:
  virtual ~ClockKeeper() = default;
  // EINVAL where there is no clock of the name.
  virtual Result<void> select_clock(std::string_view name) = 0;
};

struct Instance {
  std::uint32_t index;
  std::uint64_t serial;  // no other instance of the domain has or had this one
  std::string name;
  bool listed;                // in the instances folder; a recorder's session is not
  std::uint32_t stop_switch;  // cell: thrown while tracing_on is 0
  RingPlace place;
  std::optional<Flip> flip;  // `place` is one of the two
  ThreadFilter threads;
  bool has_stacks = false;  // each event in it is followed by the stack of its thread
  std::unique_ptr<Attachment> rules;
  SnapshotKeeper* snapshots = nullptr;  // nullptr: it has none
  unsigned snapshot_triggers = 0;       // that may take one at any time
  bool snapshot_is_kept = false;        // by a histogram: nobody else takes or empties it
  ClockKeeper* clock = nullptr;         // nullptr: its times are shown by nobody here

  [[nodiscard]] bool is_recorder() const { return index != 0 && !listed; }
};

class Instances {
 public:
  Instances(ControlMemory& control, Users& users, Grace& grace, Cells& cells)
      : control_(control), users_(users), grace_(grace), cells_(cells) {}

  // EEXIST, ENOSPC. The instance listens to nothing yet.
  Result<Instance*> create(std::string name, ring::Geometry geometry, bool overwrite, bool listed = false);
  // No plan may name it any more. Its memory is freed when the last producer has left it.
  void destroy(std::uint32_t index);
  [[nodiscard]] Instance* at(std::uint32_t index);
  // The one whose files are not in the instances folder. It is always there.
  [[nodiscard]] Instance& top() { return *at(0); }
  [[nodiscard]] std::vector<Instance*> all();
  // The listed instance of that name, or the top one for ""; nullptr: none.
  [[nodiscard]] Instance* find(std::string_view name);

  // tracing_on: whether the instance records.
  void set_tracing(Instance& instance, bool on) { cells_.set_switch(instance.stop_switch, !on); }
  [[nodiscard]] bool is_tracing(const Instance& instance) const { return !cells_.is_thrown(instance.stop_switch); }

  // Rings for an instance, all empty; free_place() when no producer can write there any more.
  Result<RingPlace> make_place(ring::Geometry geometry, bool overwrite);
  void free_place(const RingPlace& place);
  // Whether writers keep the newest events or the oldest. Positions that set_consumed() gave before are forgotten.
  void set_overwrite(Instance& instance, bool overwrite);
  // The same for rings that need not be the instance's now; `consumed` tells how far the consumer of a ring is.
  using Consumed = std::function<std::uint64_t(std::uint32_t user, std::uint32_t ring)>;
  void set_overwrite(RingPlace& place, bool overwrite, const Consumed& consumed);

  // How far the consumer of a ring is, with its turn: makes room in discard mode. Ignored where it makes no sense.
  void set_consumed(Instance& instance, std::uint32_t user, std::uint32_t ring, std::uint64_t position) {
    set_consumed(instance.place, user, ring, position);
  }
  void set_consumed(const RingPlace& place, std::uint32_t user, std::uint32_t ring, std::uint64_t position);
  // What the writers of a ring are told.
  [[nodiscard]] std::uint64_t consumed(const RingPlace& place, std::uint32_t user, std::uint32_t ring) const;
  // A raw time before which there was no ring.
  [[nodiscard]] std::uint64_t began() const { return began_; }
  // The same, for all instances; whoever has the index next begins with empty rings.
  void user_goes(std::uint32_t user);
  // The clock of what is in the rings.
  [[nodiscard]] arch::RawClock raw_clock() const { return static_cast<arch::RawClock>(control_.segment().raw_clock); }
  // Rings of a set below this one belong to CPUs.
  [[nodiscard]] std::uint32_t first_claimed() const { return control_.segment().cpus; }
  [[nodiscard]] std::uint32_t rings_per_set() const { return control_.segment().cpus + control_.segment().claimed; }

 private:
  ControlMemory& control_;
  Users& users_;
  Grace& grace_;
  Cells& cells_;
  std::optional<Instance> instances_[plan::kMaxInstances];
  std::uint64_t next_serial_ = 1;
  std::uint64_t began_ = arch::read_raw_clock(raw_clock());
  std::bitset<plan::kMaxInstances> closing_;
};

}  // namespace landtrace::domain
