#include "output/json/lines.hpp"

namespace landtrace::output {

void JsonLines::event(const ExportedEvent& event) {
  if (event.stack != nullptr) {
    lines_.append_with_stack(target_.bytes(), event.record, event.task, &event.type, *event.stack);
  } else {
    lines_.append(target_.bytes(), event.record, event.task, &event.type);
  }
  target_.flush_if_full();
}

void JsonLines::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t) {
  append_json_lost(target_.bytes(), cpu, count);
}

}  // namespace landtrace::output
