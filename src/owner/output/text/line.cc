#include "output/text/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/digits.hpp"
#include "event/print.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

constexpr std::size_t kTaskWidth = 16;
constexpr std::size_t kTaskLimit = 64;  // longer than any thread's name
constexpr std::uint64_t kUsPerSecond = 1'000'000;

// By bytes, as the kernel pads.
char* put_task(char* at, const Task* task) {
  const std::string_view comm = task != nullptr ? std::string_view(task->comm).substr(0, kTaskLimit) : "<...>";
  std::memset(at, ' ', kTaskWidth);  // of a known size: faster than what is missing
  if (comm.size() < kTaskWidth) at += kTaskWidth - comm.size();
  return put_text(at, comm);
}

char* put_tgid(char* at, const Task* task) {
  if (task == nullptr || task->tgid == 0) return put_text(at, "(-------) ");
  *at++ = '(';
  return put_text(put_right(at, task->tgid, 7), ") ");
}

}  // namespace

char* put_text_time(char* at, std::uint64_t time, bool in_ns) {
  *at++ = ' ';
  if (!in_ns) return put_text(put_right(at, time, 12), ": ");
  const std::uint64_t us = time / kNsPerUs + (time % kNsPerUs >= kNsPerUs / 2 ? 1 : 0);
  at = put_right(at, us / kUsPerSecond, 5);
  *at++ = '.';
  return put_text(put_right(at, static_cast<std::uint32_t>(us % kUsPerSecond), 6, '0'), ": ");
}

char* put_text_place(char* at, const Record& record, const Task* task, const TextColumns& columns) {
  at = put_task(at, task);
  *at++ = '-';
  at = put_left(at, record.tid, 7);
  *at++ = ' ';
  if (columns.tgid) at = put_tgid(at, task);
  *at++ = '[';
  at = put_text(put_right(at, record.cpu, 3, '0'), "] ");
  // There are no interrupts and no preemption counts in user space.
  return columns.irq_info ? put_text(at, ".....") : at;
}

void append_context(std::string& out, const Record& record, const Task* task, const TextColumns& columns) {
  char text[kTaskLimit + 256];
  char* const end = put_text_time(put_text_place(text, record, task, columns),
                                  record.time_ns - std::min(record.time_ns, columns.origin_ns), columns.time_in_ns);
  out.append(text, static_cast<std::size_t>(end - text));
}

void append_text_body(std::string& out, const Record& record, const EventType* type, StackNames* names,
                      const StackStyle& style) {
  if (type == nullptr) {
    fmt::format_to(std::back_inserter(out), "Unknown type {}", record.event_id);
  } else if (is_marker(*type)) {
    out += "tracing_mark_write: ";
    out += marker_text(record.payload);
  } else if (is_raw_marker(*type)) {
    append_raw_marker(out, record.payload);
  } else if (is_user_stack(*type)) {
    append_user_stack(out, record, names, style);
  } else {
    out.append(type->name).append(1, ':');
    event::print_fields(out, type->declaration, record.payload);
  }
  out += '\n';
}

void append_fields_body(std::string& out, const Record& record, const EventType* type) {
  if (type == nullptr || !is_of_ftrace(*type)) return append_text_body(out, record, type);
  fmt::format_to(std::back_inserter(out), "UNKNOWN TYPE {}\n", type->id);
}

void append_text_line(std::string& out, const Record& record, const Task* task, const EventType* type,
                      const TextColumns& columns, StackNames* names) {
  if (columns.context) append_context(out, record, task, columns);
  append_text_body(out, record, type, names);
}

void append_text_lost(std::string& out, std::uint32_t cpu, std::uint64_t count) {
  if (count == kLostUnknown) {
    fmt::format_to(std::back_inserter(out), "CPU:{} [LOST EVENTS]\n", cpu);
  } else {
    fmt::format_to(std::back_inserter(out), "CPU:{} [LOST {} EVENTS]\n", cpu, count);
  }
}

}  // namespace landtrace::output
