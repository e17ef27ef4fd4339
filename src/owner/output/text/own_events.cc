#include "output/text/own_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace landtrace::output {
namespace {

constexpr std::uint16_t kPrintId = 5;
constexpr std::uint16_t kUserStackId = 12;
constexpr std::uint16_t kRawDataId = 18;

event::Field field(const char* type, const char* name, std::uint32_t offset, std::uint32_t size,
                   event::FieldKind kind) {
  event::Field field;
  field.type = type;
  field.name = name;
  field.offset = offset;
  field.size = size;
  field.kind = kind;
  return field;
}

}  // namespace

std::string_view marker_text(std::span<const std::byte> payload) {
  const auto bytes = payload.subspan(std::min(payload.size(), sizeof(std::uint64_t)));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find('\0'));
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

void append_raw_marker(std::string& out, std::span<const std::byte> payload) {
  std::uint32_t id = 0;
  if (payload.size() >= sizeof id) std::memcpy(&id, payload.data(), sizeof id);
  fmt::format_to(std::back_inserter(out), "# {:x} buf:", id);
  for (const std::byte byte : payload.subspan(std::min(payload.size(), sizeof id))) {
    fmt::format_to(std::back_inserter(out), " {:02x}", std::to_integer<unsigned>(byte));
  }
}

EventType marker_type() {
  EventType type{.id = kPrintId, .system = "ftrace", .name = "print", .declaration = {}, .format = {}};
  type.declaration.name = type.name;
  type.declaration.fields = {field("unsigned long", "ip", 8, 8, event::FieldKind::kInteger),
                             field("char[]", "buf", 16, 0, event::FieldKind::kCharArray)};
  return type;
}

EventType raw_marker_type() {
  EventType type{.id = kRawDataId, .system = "ftrace", .name = "raw_data", .declaration = {}, .format = {}};
  type.declaration.name = type.name;
  type.declaration.fields = {field("unsigned int", "id", 8, 4, event::FieldKind::kInteger),
                             field("char[]", "buf", 12, 0, event::FieldKind::kCharArray)};
  return type;
}

EventType user_stack_type() {
  EventType type{.id = kUserStackId, .system = "ftrace", .name = "user_stack", .declaration = {}, .format = {}};
  type.declaration.name = type.name;
  type.declaration.fields = {field("unsigned int", "tgid", 8, 4, event::FieldKind::kInteger),
                             field("unsigned long[8]", "caller", 16, 64, event::FieldKind::kStruct)};
  std::string print;
  std::string arguments;
  for (int i = 0; i < 8; ++i) {
    print += i == 3 || i == 6 ? "\" \"" : "";
    print += "\\t=> %ps\\n";
    arguments += fmt::format(", (void *)REC->caller[{}]", i);
  }
  type.format = fmt::format(
      "name: user_stack\nID: {}\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
      "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\n"
      "print fmt: \"{}\"{}\n",
      type.id, print, arguments);
  return type;
}

}  // namespace landtrace::output
