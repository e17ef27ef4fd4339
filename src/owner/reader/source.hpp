// Where a reader's events come from: a recording, or a running domain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output/record.hpp"
#include "output/stack/object_map.hpp"
#include "reader/event_filter.hpp"
#include "reader/expression_filter.hpp"

namespace landtrace::reader {

// Which events are wanted.
struct Choice {
  EventFilter events;
  ExpressionFilter filter;
};

// What points somewhere is the source's, until its next call.
struct Event {
  std::uint64_t lost = 0;  // of its CPU, just before it; output::kLostUnknown: some
  output::Record record;
  const output::Task* task = nullptr;       // nullptr: not known
  const output::EventType* type = nullptr;  // likewise
};

// Not thread-safe.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  enum class Answer {
    kEvent,
    kNothingYet,
    kAgain,      // nothing that was chosen; more waits
    kSearching,  // the same in what is complete, which is searched to its end
    kEnd,
  };
  // Does not wait. After an error it may be called again.
  virtual Result<Answer> next(Event& event) = 0;
  // Events that are missing, as far as it was read, whatever was chosen; output::kLostUnknown: some.
  [[nodiscard]] virtual std::uint64_t lost_so_far() const = 0;
  [[nodiscard]] virtual const std::string& clock() const = 0;
  // To be added to times for nanoseconds since 1970; none: not known.
  [[nodiscard]] virtual std::optional<std::int64_t> wall_offset_ns() const = 0;
  // Objects on stacks that have become known since the last call.
  virtual std::vector<output::MappedObject> take_objects() = 0;
};

}  // namespace landtrace::reader
