// What a file format makes of a recording, which it is told in the order of time.
#pragma once

#include <string>

#include "output/record.hpp"
#include "output/stack/object_map.hpp"
#include "output/stack/user_stack.hpp"

namespace landtrace::output {

// An event with all that is known of it. The pointers are valid during the call.
struct ExportedEvent {
  const Record& record;
  const EventType& type;
  const Task* task = nullptr;        // nullptr: not known
  const UserStack* stack = nullptr;  // nullptr: none was recorded with it
};

class Exporter {
 public:
  Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  virtual ~Exporter() = default;

  // What is known of the recording, in any order with the events; before the first one that needs it. A later type of
  // the same id takes the place of the earlier.
  virtual void type(const EventType&) {}
  virtual void task(std::int32_t, const Task&) {}
  virtual void object(const MappedObject&) {}

  virtual void event(const ExportedEvent& event) = 0;
  // `count` events (or kLostUnknown) of this CPU are missing before this time.
  virtual void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) = 0;
  // The recording is damaged: why, and how many events could be read of it, whether they were wanted or not.
  virtual void damaged(const std::string& /*why*/, std::uint64_t /*read*/) {}
  // It goes on, but may be killed: what was told until now is to be written as far as the format can be read without
  // its end. The caller flushes its target.
  virtual void checkpoint() {}
  // Nothing follows.
  virtual void end() {}

  // Of a format that has files of its own: why one of them cannot be written.
  [[nodiscard]] virtual Result<void> result() const { return {}; }
  // What the format could not take, as a sentence; empty: it has taken all.
  [[nodiscard]] virtual std::string complaint() const { return {}; }
};

}  // namespace landtrace::output
