// An event in an instance, as the program has it: where it is, and how a synthetic event's entry is laid out.
#pragma once

#include <landtrace/landtrace.h>
#include <landtrace/trace_events.h>

#include <string>
#include <vector>

#include "client/attachment.hpp"

namespace landtrace::client {

struct EntryField {
  std::string name;
  std::uint32_t offset;  // in the payload
  std::uint32_t size;
  char kind;  // ipc::field_kind

  [[nodiscard]] bool is_dynamic() const;
};

struct EventFile : trace_event_file {
  std::string name;  // "SYSTEM\0NAME\0"
  landtrace_event event = LANDTRACE_EVENT_INIT;
  bool is_synthetic = false;
  std::uint32_t instance = 0;  // its index, with this owner
  const Attachment* owner = nullptr;
  std::vector<EntryField> fields;
  std::uint32_t fixed_size = 0;  // of the payload, without what is dynamic
  bool has_dynamic_fields = false;
};

// The functions that trace, for stacks of what they trace.
void name_tracing_frames();

// The file of a synthetic event; nullptr for another event's.
inline EventFile* synthetic_file(trace_event_file* file) {
  if (landtrace_is_err_or_null(file)) return nullptr;
  auto* const own = static_cast<EventFile*>(file);
  return own->is_synthetic ? own : nullptr;
}

}  // namespace landtrace::client
