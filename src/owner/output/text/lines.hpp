// The lines of append_text_line(), for recordings of millions: what is the same in all events of a type, or of a thread
// on a CPU, is put together once.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "event/fields_printer.hpp"
#include "event/text_buffer.hpp"
#include "output/record.hpp"
#include "output/stack/user_stack.hpp"
#include "output/text/header.hpp"

namespace landtrace::output {

class TextLines {
 public:
  // `names` are for the frames of stacks; nullptr: addresses.
  explicit TextLines(StackNames* names = nullptr) : names_(names) {}
  // For another thread, which knows the same types.
  TextLines(const TextLines& other, StackNames* names) : names_(names), types_(other.types_) {}

  // Before the first event of a type, and when it has changed.
  void know(const EventType& type);
  // When a task is another one than the pointers that were given to append() said.
  void forget_tasks() { contexts_ = {}; }

  // Appends the event's line. `task` and `type` may be nullptr; the type is known. Of the columns the origin alone may
  // be another one than in the call before.
  void append(event::TextBuffer& out, const Record& record, const Task* task, const EventType* type,
              const TextColumns& columns);

 private:
  static constexpr std::size_t kContextRoom = 160;
  static constexpr std::size_t kContexts = 64;  // of threads on CPUs that are kept
  // All that stands before the time.
  struct Context {
    std::int32_t tid = 0;
    std::uint32_t cpu = 0;
    const Task* task = nullptr;
    std::uint32_t size = 0;  // 0: nothing is kept here
    char text[kContextRoom];
  };
  struct TypeTexts {
    std::string name;  // "load:"
    event::FieldsPrinter fields;
  };
  // The last second that was printed, of which most events have only the microseconds to be printed.
  struct Second {
    std::uint64_t begin_ns = 0;
    std::uint32_t size = 0;  // 0: there is none
    char text[32];  // " 16939."
  };

  const Context& context_of(const Record& record, const Task* task, const TextColumns& columns);
  char* put_time(char* at, std::uint64_t time_ns);
  void append_body(event::TextBuffer& out, const Record& record, const EventType* type);

  StackNames* names_;
  std::vector<std::shared_ptr<const TypeTexts>> types_;  // by id; nullptr: those of append_text_body()
  std::array<Context, kContexts> contexts_;
  Second second_;
};

}  // namespace landtrace::output
