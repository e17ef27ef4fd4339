#include "output/ctf/metadata.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <set>

#include "output/export/value.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output::ctf {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::string uuid_text(const Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

// In quotes.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c < 0x7f ? c : '?';
  }
  return out + '"';
}

// The _ before a name keeps it apart from words of the language; readers take it away.
std::string identifier(std::string_view name) {
  std::string out = "_";
  for (const char c : name) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += is_word ? c : '_';
  }
  return out;
}

std::string type_of(const event::Field& field) {
  if (form_of(field) == FieldForm::kText) return "string";
  if (event::is_float(field)) return "floating_point { exp_dig = 8; mant_dig = 24; align = 8; }";
  if (event::is_double(field)) return "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }";
  return fmt::format("integer {{ size = {}; align = 8; signed = {}; }}", field.size * 8,
                     field.is_signed ? "true" : "false");
}

// Of a negative time the seconds are rounded down: the rest is never negative.
std::string offset_text(std::int64_t offset_ns) {
  std::int64_t seconds = offset_ns / kNsPerSecond;
  std::int64_t rest = offset_ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  return fmt::format("\toffset_s = {};\n\toffset = {};\n", seconds, rest);
}

}  // namespace

FieldForm form_of(const event::Field& field) { return is_number(field) ? FieldForm::kBytes : FieldForm::kText; }

std::string preamble(const Uuid& uuid, std::optional<std::int64_t> wall_offset_ns, bool has_stacks) {
  utsname system{};
  ::uname(&system);
  std::string out = "/* CTF 1.8 */\n\n";
  for (const int bits : {8, 16, 32, 64}) {
    out += fmt::format("typealias integer {{ size = {}; align = 8; signed = false; }} := uint{}_t;\n", bits, bits);
  }
  out += "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n\n";
  out += fmt::format(
      "trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = le;\n"
      "\tpacket.header := struct {{\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t "
      "stream_id;\n\t}};\n}};\n\n",
      uuid_text(uuid));
  out += fmt::format("env {{\n\thostname = {};\n\tsysname = {};\n\ttracer_name = \"landtrace\";\n}};\n\n",
                     in_quotes(system.nodename), in_quotes(system.sysname));
  out += "clock {\n\tname = \"monotonic\";\n\tdescription = \"Monotonic clock\";\n\tfreq = 1000000000;\n";
  if (wall_offset_ns) out += offset_text(*wall_offset_ns);
  out +=
      "};\n\ntypealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock_t;\n\n"
      "stream {\n\tid = 0;\n"
      "\tevent.header := struct {\n\t\tuint16_t id;\n\t\tclock_t timestamp;\n\t};\n"
      "\tpacket.context := struct {\n\t\tclock_t timestamp_begin;\n\t\tclock_t timestamp_end;\n"
      "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n\t\tuint64_t events_discarded;\n\t\tuint32_t "
      "cpu_id;\n\t};\n"
      "\tevent.context := struct {\n\t\tint32_t _vpid;\n\t\tint32_t _vtid;\n\t\tstring _procname;\n";
  if (has_stacks) {
    out +=
        "\t\tuint32_t __callstack_user_length;\n"
        "\t\tinteger { size = 64; align = 8; signed = false; base = 16; } _callstack_user[__callstack_user_length];\n";
  }
  out += "\t};\n};\n";
  return out;
}

std::string fields_text(const EventType& type) {
  std::string out = "struct {\n";
  if (is_user_stack(type)) return out + "\t}";
  std::set<std::string> names;
  for (const event::Field& field : type.declaration.fields) {
    std::string name = identifier(field.name);
    while (!names.insert(name).second) name += '_';
    out += fmt::format("\t\t{} {};\n", type_of(field), name);
  }
  return out + "\t}";
}

std::string event_text(std::uint16_t id, const EventType& type, const std::string& fields) {
  return fmt::format("\nevent {{\n\tid = {};\n\tname = {};\n\tstream_id = 0;\n\tfields := {};\n}};\n", id,
                     in_quotes(type.system + ':' + type.name), fields);
}

}  // namespace landtrace::output::ctf
