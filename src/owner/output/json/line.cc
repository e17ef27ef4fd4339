#include "output/json/line.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/digits.hpp"
#include "output/decimal.hpp"
#include "output/json/string.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

// {"time":12345678901,"cpu":3,"pid":1234,"tgid":1200,"comm":"app"
void append_context(std::string& out, const Record& record, const Task* task) {
  char text[6 * (kMaxDigits + 10)];  // of names and numbers
  char* at = put_decimal(put_text(text, R"({"time":)"), record.time_ns);
  at = put_decimal(put_text(at, R"(,"cpu":)"), record.cpu);
  at = put_decimal(put_text(at, R"(,"pid":)"), record.tid);
  if (task != nullptr && task->tgid != 0) at = put_decimal(put_text(at, R"(,"tgid":)"), task->tgid);
  if (task != nullptr) at = put_text(at, R"(,"comm":)");
  out.append(text, static_cast<std::size_t>(at - text));
  if (task != nullptr) json::append_string(out, task->comm);
}

std::string count_or_null(std::uint64_t count) { return count == kLostUnknown ? "null" : std::to_string(count); }

}  // namespace

JsonLineWriter::TypeTexts::TypeTexts(const EventType& type)
    : names(type.declaration), is_stack(is_user_stack(type)) {
  before_fields = ",\"system\":";
  json::append_string(before_fields, type.system);
  before_fields += ",\"event\":";
  json::append_string(before_fields, type.name);
  before_fields += ",\"fields\":";
}

void JsonLineWriter::append_event(std::string& out, const Record& record, const EventType& type) {
  const TypeTexts& texts = types_.of(type);
  out += texts.before_fields;
  if (!texts.is_stack) return texts.names.append_object(out, type.declaration, record.payload);
  out += '{';
  append_json_user_stack(out, record, names_);
  out += '}';
}

void JsonLineWriter::append(std::string& out, const Record& record, const Task* task, const EventType* type) {
  append_context(out, record, task);
  if (type != nullptr) {
    append_event(out, record, *type);
  } else {
    out += ",\"id\":";
    append_decimal(out, record.event_id);
    out += ",\"payload\":";
    json::append_hex(out, record.payload);
  }
  out += "}\n";
}

void JsonLineWriter::append_with_stack(std::string& out, const Record& record, const Task* task, const EventType* type,
                                       const UserStack& stack) {
  append(out, record, task, type);
  out.resize(out.size() - std::string_view("}\n").size());
  out += ",\"stack\":{";
  append_json_stack(out, stack, stack.time_ns, names_);
  out += "}}\n";
}

void append_json_lost(std::string& out, std::uint32_t cpu, std::uint64_t count) {
  fmt::format_to(std::back_inserter(out), "{{\"lost\":{},\"cpu\":{}}}\n", count_or_null(count), cpu);
}

void append_json_all_lost(std::string& out, std::uint64_t count) {
  fmt::format_to(std::back_inserter(out), "{{\"lost\":{}}}\n", count_or_null(count));
}

}  // namespace landtrace::output
