// A session of this program in the domain, from whose rings samples are made. Events of a program share one; only the
// same event with another filter needs another session.
//
// Nothing is read here that finds no room in the program's ring: it waits in the domain's ring, and what finds no room
// there is counted by those who write it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/clock_line.hpp"
#include "buffer/mapped_objects.hpp"
#include "buffer/merge.hpp"
#include "buffer/tasks.hpp"
#include "consumer/session.hpp"
#include "perf/event.hpp"
#include "perf/thread_gate.hpp"

namespace landtrace::perf {

class Source {
 public:
  // `is_meant` must outlive it.
  static Result<std::unique_ptr<Source>> open(const std::string& socket, const ThreadGate::IsMeant& is_meant);

  // Whether the event can have that filter here.
  [[nodiscard]] bool takes(const Event& event) const;
  // The event is on from here on, or waits for exec.
  Result<void> listen(Event& event);
  // It has gone off. What it has not taken yet it still gets, unless it was the last that was on: then all that is left
  // is given, and what finds no room counts as lost.
  void hush(Event& event);
  // The event gets nothing any more.
  void remove(Event& event);
  [[nodiscard]] bool is_used() const { return !all_.empty(); }
  [[nodiscard]] const std::vector<Event*>& events() const { return all_; }
  // As of the last look: there are samples for which an output has no room yet.
  [[nodiscard]] bool waits_for_room() const { return waits_for_room_; }

  [[nodiscard]] arch::RawClock raw_clock() const { return session_->raw_clock(); }
  // Makes samples of what has happened up to the horizon, a raw time from before the call. True if there was anything.
  bool pull(std::uint64_t horizon);
  // Whether nobody serves the domain any more.
  [[nodiscard]] bool is_dead() const { return view_->owner_died(); }
  void disconnect() { view_.reset(); }

 private:
  explicit Source(std::unique_ptr<consumer::DomainView> view) : view_(std::move(view)) {}

  // The events that are about one tracepoint.
  struct Listeners {
    std::string filter;
    bool is_listening = false;
    bool has_stacks = false;
    std::uint16_t id = 0;
    std::optional<std::uint32_t> address_at;
    // By CPU; the last are those for any.
    std::vector<std::vector<Event*>> events;
  };
  // A sample whose stack may follow.
  struct Waiting {
    std::uint64_t clock;
    std::uint32_t cpu;
    std::uint32_t user;
    std::uint32_t slot;
    Bytes payload;
  };

  Result<void> select(const Tracepoint& tracepoint, const Listeners& listeners);
  Listeners& listeners_for(const Event& event);
  [[nodiscard]] bool is_wanted(std::uint32_t slot) const;
  void unlisten(const Tracepoint& tracepoint);
  void finish();
  void look_at_kernel() const;
  void note_rest();
  void add_new_users();
  bool pull_rings(std::uint64_t horizon);
  bool take(std::uint32_t cpu, buffer::RingCursor& cursor);
  bool take_with_stack(std::uint32_t cpu, buffer::RingCursor& cursor);
  bool give_waiting(std::uint32_t tid, std::span<const std::uint64_t> frames);
  void give_old(std::uint64_t now);
  // Something that has happened.
  struct Happened {
    std::uint64_t clock;
    std::uint32_t cpu;
    std::uint32_t user;
    std::uint32_t tid;
    std::span<const std::byte> payload;
    std::span<const std::uint64_t> frames;
  };
  bool give(Listeners& listeners, const Happened& what);
  static void tell_older(const Listeners& listeners, const Happened& what);
  [[nodiscard]] static bool has_room(const Listeners& listeners, const Happened& what);
  bool is_about(Event& event, const Happened& what, std::uint32_t tgid);
  void give_to(Event& event, const Happened& what, SampleFacts facts, const output::Task* task);
  void read_group(const Event& event, std::uint64_t clock);
  void watch_for_exec(Event& event);
  [[nodiscard]] std::uint64_t raw_at(std::uint64_t monotonic_ns, std::uint64_t not_before) const;
  void note_lost(std::uint32_t cpu, std::uint64_t count);
  void look_at_objects();
  void publish_positions();
  [[nodiscard]] Listeners* listeners_of(std::uint32_t slot) {
    return slot < by_slot_.size() ? by_slot_[slot].get() : nullptr;
  }

  std::unique_ptr<consumer::DomainView> view_;
  std::unique_ptr<consumer::Session> session_;
  std::optional<ThreadGate> gate_;
  // For times of exec.
  std::optional<arch::ClockLine> line_;
  std::vector<Event*> all_;
  bool waits_for_room_ = false;
  std::uint64_t renewed_ns_ = 0;
  std::vector<std::unique_ptr<Listeners>> by_slot_;
  bool has_stacks_ = false;
  bool is_finishing_ = false;
  // The newest event that was given: what is told besides must not be newer than events to come.
  std::uint64_t newest_ = 0;

  // Of all CPUs: whoever reads several rings round by round, as perf does, wants nothing that is older than what it got
  // a round before.
  buffer::Merge merge_;
  struct RingOfUser {
    std::uint32_t user;
    std::uint32_t ring;
    std::unique_ptr<buffer::RingCursor> cursor;
    std::uint64_t published = 0;
  };
  std::vector<RingOfUser> rings_;
  std::vector<buffer::MappedObjects> objects_;  // by user
  std::vector<output::MappedObject> known_objects_;
  buffer::Tasks tasks_;
  std::map<std::uint32_t, Waiting> waiting_;  // by thread
  Bytes bytes_;
  std::vector<Reading> readings_;
  std::vector<ipc::ConsumedPosition> positions_;
};

}  // namespace landtrace::perf
