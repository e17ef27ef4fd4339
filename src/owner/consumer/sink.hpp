// Where a recording goes.
#pragma once

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "unwind/object_table.hpp"

namespace landtrace::consumer {

using output::Outstanding;

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  // An event of the domain, before its first record; it need not ever have one. Again when its structs have been
  // described.
  virtual void type(const output::EventType& type) = 0;
  // A thread's name, when it is first known and when it changes.
  virtual void task(std::int32_t tid, const output::Task& task) = 0;
  // An object (program, library) that lies on stacks of a process, `first_seen` in the time of records.
  virtual void object(const unwind::MappedObject& /*object*/) {}
  // An event; in the order of time within a CPU. The payload is valid during the call.
  virtual void event(const output::Record& record, const output::EventType& type) = 0;
  // `count` events of the CPU are missing between the one before and the next one.
  virtual void lost(std::uint32_t cpu, std::uint64_t count) = 0;
  // At the start of a round: so many events of the CPU are missing of which lost() has not told yet, and so many wait
  // to be given. A recorder that is killed now tells of neither.
  virtual void outstanding(std::uint32_t /*cpu*/, Outstanding /*events*/) {}
  // The end of a round, before the rings' room is given back: all events before `horizon_ns` have been given.
  virtual void settled(std::uint64_t /*horizon_ns*/) {}
};

}  // namespace landtrace::consumer
