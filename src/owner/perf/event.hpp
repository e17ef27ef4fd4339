// A perf event that a program has opened: what perf_event_open() was asked for, and how things stand.
#pragma once

#include <linux/perf_event.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/clocks.hpp"
#include "perf/output_ring.hpp"
#include "perf/target.hpp"
#include "perf/tracker.hpp"

namespace landtrace::perf {

class Source;
class Counter;

// Of a raw time that is not known yet.
inline constexpr std::uint64_t kNotYet = ~0ull;

// The event of the domain that is meant.
struct Tracepoint {
  std::uint32_t slot = 0;
  std::uint16_t id = 0;
  std::string system;
  std::string name;
  // Of a probe: where in the payload its address stands, which is the sample's where it has no stack.
  std::optional<std::uint32_t> address_at;

  [[nodiscard]] std::string full_name() const { return system + ':' + name; }
};

struct Event {
  std::uint32_t handle = 0;
  // That samples carry.
  std::uint64_t id = 0;
  perf_event_attr attr{};
  std::int32_t cpu = -1;
  Tracepoint tracepoint;
  // A dummy event, which the kernel has refused: it never happens, and shows where names and mappings go.
  bool is_dummy = false;
  // Whose; nullopt: everybody's.
  std::optional<Target> target;
  std::string filter;
  std::shared_ptr<SampleClock> clock;
  // Those of its group, the leader first; itself alone where it is in none.
  std::shared_ptr<std::vector<Event*>> group;
  // Of the event's threads, besides its samples.
  Tracker tracker;
  // What the program polls.
  Fd notifier;
  std::shared_ptr<OutputRing> output;

  bool is_on = false;
  bool waits_for_exec = false;
  // Raw time at which it was seen to wait last.
  std::uint64_t waited_until = 0;
  // Raw times between which it is on; both may be kNotYet.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  // Of the time that it was on before `on_since_ns`.
  std::uint64_t enabled_ns = 0;
  std::uint64_t on_since_ns = 0;

  std::uint64_t count = 0;
  std::uint64_t lost = 0;
  // Of what its counter has: before exec, so not the event's.
  std::uint64_t before_exec = 0;
  // Events until the next sample.
  std::uint64_t until_sample = 1;
  std::uint64_t period = 1;
  // Samples until it goes off by itself; 0: it does not (REFRESH).
  std::uint64_t samples_left = 0;
  bool has_ended = false;

  // Where it listens; one of the two while it is on. One that is counted and waits for exec has both.
  Source* source = nullptr;
  Counter* counter = nullptr;

  // Whether there are samples of it, or it is counted alone.
  [[nodiscard]] bool is_sampled() const { return attr.freq != 0 || attr.sample_period != 0; }
  // Whether its records are looked at, also if it is counted alone: no table says what came before an exec, or before
  // a sample that has the values of its group.
  [[nodiscard]] bool is_recorded() const {
    return is_sampled() || attr.remove_on_exec != 0 || (leader().attr.sample_type & PERF_SAMPLE_READ) != 0;
  }
  [[nodiscard]] Event& leader() const { return *group->front(); }
  [[nodiscard]] bool wants_stack() const { return is_sampled() && (attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0; }
  [[nodiscard]] bool was_on_at(std::uint64_t raw) const { return raw >= begin && raw < end; }
};

}  // namespace landtrace::perf
