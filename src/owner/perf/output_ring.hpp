// Where samples of one or several events go: a MappedRing, and what its reader has to be told besides samples.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/stack/object_map.hpp"
#include "perf/kernel_ring.hpp"
#include "perf/mapped_ring.hpp"
#include "perf/sample.hpp"

namespace landtrace::perf {

struct Event;

class OutputRing {
 public:
  explicit OutputRing(std::shared_ptr<MappedRing> ring) : ring_(std::move(ring)) {}

  [[nodiscard]] MappedRing& ring() { return *ring_; }

  // Events whose output this is, from here on or not any more. The first decides when who polls is woken.
  void add(Event& event);
  void remove(Event& event);
  [[nodiscard]] const std::vector<Event*>& events() const { return events_; }

  // Nothing is written while it is paused (PERF_EVENT_IOC_PAUSE_OUTPUT): the program looks at a ring that overwrites.
  void pause(bool on) { is_paused_ = on; }

  // Whether a sample of this size fits, with what may have to be said before it.
  [[nodiscard]] bool has_room(std::size_t sample) const;
  // Whether it has been full for so long that nobody seems to read it: then others' events do not wait for it.
  [[nodiscard]] bool is_left_alone();
  // A sample; what was lost before is told first. False: there is no room.
  bool write(std::span<const std::byte> sample, const Event& event, const SampleFacts& facts);
  // Another event's samples that were lost.
  void lose(Event& event, std::uint64_t count);
  [[nodiscard]] bool has_lost() const { return lost_ > 0; }
  // What has been lost and not told yet.
  void tell_lost(const SampleFacts& facts);

  // A thread's name, before its first sample and where it has changed.
  void tell_name(const SampleFacts& facts, const std::string& name);
  // Objects on stacks, those of `all` that have not been told yet.
  void tell_objects(const SampleFacts& facts, const std::vector<output::MappedObject>& all);
  // A record as it is, of a kernel's event.
  bool copy(std::span<const std::byte> record);

  // Of events of the kernel's that have this output, too.
  void join(std::unique_ptr<KernelRing> ring) { kernel_.push_back(std::move(ring)); }
  void look_at_kernel();
  void look_at_kernel_again();
  [[nodiscard]] bool has_kernel_records() const { return has_kernel_records_; }
  bool copy_kernel_until(std::uint64_t time);
  bool copy_kernel_rest();
  void forget_kernel();

  // Lets the program see what was written, and wakes it where it wants to be woken.
  void publish();
  // The program has been told by a poll.
  void polled();
  // Whether so much was written since it was last that it is to be woken.
  [[nodiscard]] bool is_due() const;

 private:
  [[nodiscard]] const Event* event_for(bool (*tells)(const Event&)) const;
  bool tell_object(const Event& event, const SampleFacts& facts, const output::MappedObject& object);

  std::shared_ptr<MappedRing> ring_;
  std::vector<Event*> events_;
  std::vector<std::unique_ptr<KernelRing>> kernel_;
  bool has_kernel_records_ = false;
  Bytes bytes_;
  std::uint64_t lost_ = 0;
  std::uint64_t lost_id_ = 0;
  std::unordered_map<std::uint32_t, std::string> names_;
  // How many of each list have been told.
  std::unordered_map<const void*, std::size_t> objects_told_;
  std::uint64_t samples_ = 0;
  std::uint64_t watermark_ = 0;
  std::uint64_t wakeup_events_ = 0;
  // As MappedRing::written_bytes() was when it was due last.
  std::uint64_t woken_at_ = 0;
  bool is_notified_ = false;
  bool is_paused_ = false;
  // What was unread when it was full first, and when that was.
  std::uint64_t tail_when_full_ = 0;
  std::uint64_t full_since_ns_ = 0;
};

}  // namespace landtrace::perf
