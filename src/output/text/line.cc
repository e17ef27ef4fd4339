#include "output/text/line.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "event/print.hpp"

namespace landtrace::output {
namespace {

constexpr std::size_t kTaskWidth = 16;
constexpr std::uint64_t kNsPerUs = 1'000;
constexpr std::uint64_t kUsPerSecond = 1'000'000;

// By bytes, as the kernel pads; fmt would count characters.
void append_task(std::string& out, const Task* task) {
  const std::string_view comm = task ? std::string_view(task->comm) : "<...>";
  out.append(kTaskWidth - std::min(kTaskWidth, comm.size()), ' ');
  out += comm;
}

void append_tgid(std::string& out, const Task* task) {
  if (task && task->tgid != 0) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("({:>7}) "), task->tgid);
  } else {
    out += "(-------) ";
  }
}

void append_time(std::string& out, std::uint64_t time, bool in_ns) {
  if (!in_ns) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE(" {:>12}: "), time);
    return;
  }
  const std::uint64_t us = time / kNsPerUs + (time % kNsPerUs >= kNsPerUs / 2 ? 1 : 0);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(" {:>5}.{:06}: "), us / kUsPerSecond, us % kUsPerSecond);
}

void append_context(std::string& out, const Record& record, const Task* task, const TextColumns& columns) {
  append_task(out, task);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("-{:<7} "), record.tid);
  if (columns.tgid) append_tgid(out, task);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("[{:03}] "), record.cpu);
  // There are no interrupts and no preemption counts in user space.
  if (columns.irq_info) out += ".....";
  append_time(out, record.time_ns, columns.time_in_ns);
}

// What trace_marker writes is ftrace's own event `print`: an address, and text that brings its newline.
bool is_marker(const EventType& type) { return type.system == "ftrace" && type.name == "print"; }

void append_marker(std::string& out, std::span<const std::byte> payload) {
  out += "tracing_mark_write: ";
  const auto bytes = payload.subspan(std::min(payload.size(), sizeof(std::uint64_t)));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find('\0'));
  if (text.ends_with('\n')) text.remove_suffix(1);
  out += text;
}

}  // namespace

void append_text_line(std::string& out, const Record& record, const Task* task, const EventType* type,
                      const TextColumns& columns) {
  if (columns.context) append_context(out, record, task, columns);
  if (!type) {
    fmt::format_to(std::back_inserter(out), "Unknown type {}", record.event_id);
  } else if (is_marker(*type)) {
    append_marker(out, record.payload);
  } else {
    out += type->name;
    out += ':';
    event::print_fields(out, type->declaration, record.payload);
  }
  out += '\n';
}

void append_text_lost(std::string& out, std::uint32_t cpu, std::uint64_t count) {
  if (count == kLostUnknown) {
    fmt::format_to(std::back_inserter(out), "CPU:{} [LOST EVENTS]\n", cpu);
  } else {
    fmt::format_to(std::back_inserter(out), "CPU:{} [LOST {} EVENTS]\n", cpu, count);
  }
}

}  // namespace landtrace::output
