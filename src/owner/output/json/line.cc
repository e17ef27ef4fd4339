#include "output/json/line.hpp"

#include <fmt/format.h>

#include <iterator>

#include "output/decimal.hpp"
#include "output/json/string.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

void append_task(std::string& out, const Task& task) {
  if (task.tgid != 0) {
    out += ",\"tgid\":";
    append_decimal(out, task.tgid);
  }
  out += ",\"comm\":";
  json::append_string(out, task.comm);
}

void append_fields(std::string& out, const EventType& type, std::span<const std::byte> payload) {
  bool first = true;
  for (const event::Field& field : type.declaration.fields) {
    if (!first) out += ',';
    first = false;
    json::append_string(out, field.name);
    out += ':';
    json::append_value(out, field, payload);
  }
}

void append_event(std::string& out, const Record& record, const EventType& type, StackNames* names) {
  out += ",\"system\":";
  json::append_string(out, type.system);
  out += ",\"event\":";
  json::append_string(out, type.name);
  out += ",\"fields\":{";
  if (is_user_stack(type)) {
    append_json_user_stack(out, record, names);
  } else {
    append_fields(out, type, record.payload);
  }
  out += '}';
}

std::string count_or_null(std::uint64_t count) { return count == kLostUnknown ? "null" : std::to_string(count); }

}  // namespace

void append_json_line(std::string& out, const Record& record, const Task* task, const EventType* type,
                      StackNames* names) {
  out += "{\"time\":";
  append_decimal(out, record.time_ns);
  out += ",\"cpu\":";
  append_decimal(out, record.cpu);
  out += ",\"pid\":";
  append_decimal(out, record.tid);
  if (task) append_task(out, *task);
  if (type) {
    append_event(out, record, *type, names);
  } else {
    out += ",\"id\":";
    append_decimal(out, record.event_id);
    out += ",\"payload\":";
    json::append_hex(out, record.payload);
  }
  out += "}\n";
}

void append_json_line_with_stack(std::string& out, const Record& record, const Task* task, const EventType* type,
                                 const UserStack& stack, StackNames* names) {
  append_json_line(out, record, task, type, names);
  out.resize(out.size() - std::string_view("}\n").size());
  out += ",\"stack\":{";
  append_json_stack(out, stack, stack.time_ns, names);
  out += "}}\n";
}

void append_json_lost(std::string& out, std::uint32_t cpu, std::uint64_t count) {
  fmt::format_to(std::back_inserter(out), "{{\"lost\":{},\"cpu\":{}}}\n", count_or_null(count), cpu);
}

void append_json_all_lost(std::string& out, std::uint64_t count) {
  fmt::format_to(std::back_inserter(out), "{{\"lost\":{}}}\n", count_or_null(count));
}

}  // namespace landtrace::output
