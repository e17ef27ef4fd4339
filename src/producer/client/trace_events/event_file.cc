#include "client/trace_events/event_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "client/event_list.hpp"
#include "client/trace_events/arrays.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {
namespace {

// Removes the first word and the blank behind it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

bool read_number(std::string_view text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<EntryField> read_field(std::string_view line) {
  EntryField field{};
  if (!read_number(take_word(line), field.offset) || !read_number(take_word(line), field.size)) return std::nullopt;
  const std::string_view kind = take_word(line);
  if (kind.size() != 1 || line.empty()) return std::nullopt;
  field.kind = kind.front();
  field.name = line;
  return field;
}

bool read_layout(EventFile& file, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto field = read_field(line);
    if (!field || field->size > ring::kMaxPayload || field->offset > ring::kMaxPayload) return false;
    constexpr std::uint32_t kWord = sizeof(std::uint64_t);
    const std::uint32_t end = (field->offset + field->size + kWord - 1) / kWord * kWord;
    file.fixed_size = std::max(file.fixed_size, end);
    file.has_dynamic_fields = file.has_dynamic_fields || field->is_dynamic();
    file.fields.push_back(*std::move(field));
  }
  return true;
}

int find_layout(EventFile& file) {
  if (!Process::get().attach()) return -ENOENT;
  const auto answer = Process::get().ask({.operation = ipc::Operation::kEventLayout}, file.name + file.tr->name + '\0');
  if (!answer) return answer.error().code == ENOENT ? -EINVAL : -answer.error().code;
  file.is_synthetic = answer->reply.a == 1;
  file.instance = static_cast<std::uint32_t>(answer->reply.b);
  file.owner = Process::current();
  return read_layout(file, answer->text) ? 0 : -EPROTO;
}

int find_event(EventFile& file) {
  if (const int error = find_layout(file); error != 0) return error;
  name_tracing_frames();
  return hold_event(file.event, file.name.c_str());
}

}  // namespace

bool EntryField::is_dynamic() const { return kind == ipc::field_kind::kDynamicText || kind == ipc::field_kind::kStack; }

}  // namespace landtrace::client

using namespace landtrace::client;

extern "C" {

trace_event_file* trace_get_event_file(const char* instance, const char* system, const char* event) {
  const auto failed = [](int error) { return static_cast<trace_event_file*>(landtrace_err_ptr(error)); };
  if (system == nullptr || event == nullptr) return failed(-EINVAL);
  trace_array* const tr = get_array(instance, IfMissing::kFail);
  if (landtrace_is_err(tr)) return failed(static_cast<int>(landtrace_ptr_err(tr)));
  std::unique_ptr<EventFile> file(new (std::nothrow) EventFile);
  int error = -ENOMEM;
  if (file != nullptr) {
    file->tr = tr;
    file->name = std::string(system) + '\0' + event + '\0';
    error = find_event(*file);
  }
  if (error == 0) return file.release();
  trace_array_put(tr);
  return failed(error);
}

void trace_put_event_file(trace_event_file* file) {
  if (landtrace_is_err_or_null(file)) return;
  const std::unique_ptr<EventFile> own(static_cast<EventFile*>(file));
  landtrace_unregister(&own->event);
  trace_array_put(own->tr);
}

}  // extern "C"
