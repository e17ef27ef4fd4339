// Records of an instance as people see them: with event type, task and time.
#pragma once

#include <string>
#include <unordered_map>

#include "buffer/mapped_objects.hpp"
#include "buffer/merge.hpp"
#include "buffer/slot_types.hpp"
#include "buffer/tasks.hpp"
#include "buffer/trace_clock.hpp"
#include "output/stack/user_stack.hpp"
#include "output/text/header.hpp"
#include "output/text/latency.hpp"

namespace landtrace::buffer {

// How lines look, as trace_options has it.
struct TextStyle {
  enum class Body : std::uint8_t { kText, kFields, kRaw, kHex, kBin };

  output::TextColumns columns;
  Body body = Body::kText;
  bool learn_names = true;  // record-cmd
  output::StackStyle stack;
  // For readers that take lines apart: an event is a line (a stack's frames have one each) whatever programs write, the
  // thread's name never leaves its column, and the event is named with its system.
  bool whole_lines = false;
};

class Printer {
 public:
  // All must outlive it.
  Printer(const domain::ControlMemory& control, const domain::Users& users, const domain::Events& events,
          TraceClock& clock)
      : users_(users), clock_(clock), types_(control, events) {}

  // Call it before each batch of lines. `anew`: a reader begins, so names of threads are looked up again.
  void prepare(bool anew);

  struct Found {
    output::Record record;
    const output::EventType* type;
  };
  // The record at the cursor. Its payload is valid until the cursor looks for the next one.
  Found look_at(const Merge::Source& source) {
    const ring::RecordView& view = source.cursor->record();
    const output::EventType* const type = types_.find(view.header.event, view.header.clock);
    return {{.time_ns = clock_.shown(source.cursor->clock()),
             .cpu = source.cpu,
             .tid = static_cast<std::int32_t>(view.header.tid),
             .event_id = type != nullptr ? type->id : types_.id_of(view.header.event),
             .payload = view.payload},
            type};
  }
  void append(std::string& out, const Found& found, std::uint32_t user, const TextStyle& style,
              const output::LinePlace& place);
  [[nodiscard]] TraceClock& clock() { return clock_; }

 private:
  const output::Task* task_of(const Found& found, std::uint32_t user, const TextStyle& style) {
    return tasks_.find(static_cast<std::uint32_t>(found.record.tid), users_.all()[user].data(), style.learn_names);
  }

  void append_context(std::string& out, const output::Record& record, const output::Task* task, const TextStyle& style,
                      const output::LinePlace& place);
  output::StackNames& names_of(std::uint32_t user);

  // The objects on the stacks of one user's processes. Users are kept apart, so that none names the frames of others.
  struct UserObjects {
    buffer::MappedObjects table;
    output::StackNames names;
  };
  const domain::Users& users_;
  TraceClock& clock_;
  SlotTypes types_;
  Tasks tasks_;
  symbols::Symbols symbols_;
  std::unordered_map<std::uint32_t, UserObjects> objects_;  // by user
};

}  // namespace landtrace::buffer
