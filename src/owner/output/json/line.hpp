// Events as JSON, one object a line.
#pragma once

#include <string>

#include "output/export/by_type.hpp"
#include "output/json/object.hpp"
#include "output/record.hpp"
#include "output/stack/user_stack.hpp"

namespace landtrace::output {

class JsonLineWriter {
 public:
  // `names` are for the frames of stacks; nullptr: addresses.
  explicit JsonLineWriter(StackNames* names = nullptr) : names_(names) {}

  // Of a type that is known already: its fields may be others now.
  void know(const EventType& type) { types_.forget(type.id); }

  // Appends the event's object and a newline:
  //
  //   {"time":12345678901,"cpu":3,"pid":1234,"tgid":1200,"comm":"app","system":"user_events","event":"job",
  //    "fields":{"id":7,"name":"x"}}                                                      (on one line)
  //
  // `time` is in ns, `pid` is the thread's, as tracing has it. Without a task there is no "tgid" and no "comm".
  // Without a type there are "id" and "payload" (hex) in place of "system", "event" and "fields".
  void append(std::string& out, const Record& record, const Task* task, const EventType* type);
  // The same with the stack that belongs to the event: "stack":{"tgid":1200,"caller":[…]} behind the fields.
  void append_with_stack(std::string& out, const Record& record, const Task* task, const EventType* type,
                         const UserStack& stack);

 private:
  struct TypeTexts {
    explicit TypeTexts(const EventType& type);
    std::string before_fields;  // ,"system":"user_events","event":"job","fields":
    json::FieldNames names;
    bool is_stack;
  };

  void append_event(std::string& out, const Record& record, const EventType& type);

  StackNames* names_;
  ByType<TypeTexts> types_;
};

// {"lost":12,"cpu":3}; the count is null for kLostUnknown.
void append_json_lost(std::string& out, std::uint32_t cpu, std::uint64_t count);
// {"lost":12}: of all CPUs.
void append_json_all_lost(std::string& out, std::uint64_t count);

}  // namespace landtrace::output
