// A sink that gets events in the order of time over all CPUs. A Collector gives them in the order of each CPU, and now
// and then says up to which time it has given all.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "consumer/recorder_sink.hpp"

namespace landtrace::consumer {

class OrderedSink : public RecorderSink {
 public:
  void type(const output::EventType& type) final;
  void task(std::int32_t tid, const output::Task& task) final;
  void event(const output::Record& record, const output::EventType& type) final;
  void lost(std::uint32_t cpu, std::uint64_t count) final { lost_[cpu] += count; }
  void settled(std::uint64_t horizon_ns) final;
  Result<void> finish() final;

  [[nodiscard]] const std::optional<Error>& failure() const final { return failure_; }
  // Those that came.
  [[nodiscard]] std::uint64_t written() const final { return came_; }

 protected:
  // The payload is valid during the call; `who` is what is known of its thread, or nullptr.
  virtual void in_order(const output::Record& record, const output::Task* who, const output::EventType& type) = 0;
  // `count` events of this CPU are missing before this time.
  virtual void lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) = 0;
  // Before an event of it, and again when it has changed.
  virtual void knows_type(const output::EventType& /*type*/) {}
  virtual void knows_task(std::int32_t /*tid*/, const output::Task& /*task*/) {}
  // All that can be given for now has been.
  virtual void round_is_over() {}
  // Nothing follows.
  virtual void all_is_over() {}

  void fail_with_error(Error error) { failure_ = std::move(error); }
  [[nodiscard]] const std::map<std::uint16_t, output::EventType>& types() const { return types_; }
  [[nodiscard]] const std::unordered_map<std::int32_t, output::Task>& tasks() const { return tasks_; }

 private:
  // An event that may have to wait for earlier ones of other CPUs.
  struct Waiting {
    output::Record record;  // without its payload
    std::size_t begin;      // of that in bytes_
    std::size_t size;
    std::uint64_t lost;  // before it on its CPU
  };
  void give(const Waiting& waiting);
  void forget(std::size_t count);

  std::map<std::uint16_t, output::EventType> types_;
  std::unordered_map<std::int32_t, output::Task> tasks_;
  std::vector<Waiting> waiting_;
  std::vector<std::byte> bytes_;
  std::map<std::uint32_t, std::uint64_t> lost_;  // by CPU, since its last event
  std::uint64_t last_ns_ = 0;
  std::uint64_t came_ = 0;
  std::optional<Error> failure_;
};

}  // namespace landtrace::consumer
