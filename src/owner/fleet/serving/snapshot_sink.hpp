// What a host's orders have recorded, as one trace file in memory.
#pragma once

#include <bitset>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "consumer/sink.hpp"
#include "event/pattern.hpp"
#include "fleet/snapshot_parts.hpp"

namespace landtrace::fleet {

class SnapshotSink : public consumer::Sink {
 public:
  // Of the events that match one of the patterns, and of all where there are none. Of fields of `left_out` zeros.
  SnapshotSink(std::vector<event::Pattern> patterns, std::vector<std::string> left_out)
      : patterns_(std::move(patterns)), left_out_(std::move(left_out)) {}

  // What comes from here on is another order's.
  void begin_order();

  void type(const output::EventType& type) override { types_.insert_or_assign(type.id, type); }
  void task(std::int32_t tid, const output::Task& task) override { tasks_[tid] = task; }
  void object(const unwind::MappedObject& object) override { objects_.push_back(object); }
  void event(const output::Record& record, const output::EventType& type) override;
  void lost(std::uint32_t cpu, std::uint64_t count) override { order().lost[cpu] += count; }

  // The file. An event that several orders have is there once, as the one that has most of it had it. Says in `end` how
  // many events it has, the oldest, and how many older ones were left out as more than `most_bytes`. Once.
  Result<std::string> file(std::uint32_t cpus, std::uint64_t most_bytes, SnapshotEnd& end);

 private:
  struct Kept {
    output::Record record;  // without its payload
    std::size_t begin = 0;  // of that in bytes_
    std::size_t size = 0;
    std::uint64_t lost = 0;  // before it on its CPU, in its order
  };
  struct OfOrder {
    std::vector<Kept> events;
    std::map<std::uint16_t, std::uint64_t> counts;         // by event
    std::map<std::uint32_t, std::uint64_t> lost;           // by CPU, since its last event
    std::unordered_map<std::int32_t, std::uint16_t> last;  // by thread, its last event: a stack is of that
  };
  OfOrder& order() { return orders_.back(); }
  [[nodiscard]] bool wants(const output::EventType& type) const;
  // In the order of time.
  std::vector<Kept> chosen();
  [[nodiscard]] std::uint64_t begin_within(const std::vector<Kept>& events, std::uint64_t most_bytes) const;

  const std::vector<event::Pattern> patterns_;
  const std::vector<std::string> left_out_;
  std::map<std::uint16_t, output::EventType> types_;
  std::unordered_map<std::int32_t, output::Task> tasks_;
  std::vector<unwind::MappedObject> objects_;
  std::deque<OfOrder> orders_;
  std::vector<std::byte> bytes_;
};

}  // namespace landtrace::fleet
