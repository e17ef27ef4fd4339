#include "output/text/bare.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

void append_number(std::string& out, const Record& record) {
  fmt::format_to(std::back_inserter(out), "type: {}\n", record.event_id);
}

template <typename T>
void append_bytes(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

}  // namespace

void append_raw_line(std::string& out, const Record& record, const EventType* type, bool context) {
  const auto to = std::back_inserter(out);
  if (context) fmt::format_to(to, "{} {} {} ", record.tid, record.cpu, record.time_ns);
  if (type == nullptr) {
    fmt::format_to(to, "{} ?\n", record.event_id);
  } else if (is_marker(*type)) {
    std::uint64_t address = 0;
    if (record.payload.size() >= sizeof address) std::memcpy(&address, record.payload.data(), sizeof address);
    fmt::format_to(to, "# {:x} {}\n", address, marker_text(record.payload));
  } else if (is_raw_marker(*type)) {
    append_raw_marker(out, record.payload);
    out += '\n';
  } else {
    append_number(out, record);
  }
}

void append_hex_line(std::string& out, const Record& record, const EventType* type, bool context) {
  if (context) {
    fmt::format_to(std::back_inserter(out), "{:08x} {:08x} {:016x} ", static_cast<std::uint32_t>(record.tid),
                   record.cpu, record.time_ns);
  }
  if (type != nullptr) append_number(out, record);
  out += '\n';
}

void append_bin_line(std::string& out, const Record& record, const EventType* type, bool context) {
  if (context) {
    append_bytes(out, record.tid);
    append_bytes(out, record.cpu);
    append_bytes(out, record.time_ns);
  }
  if (type != nullptr) append_number(out, record);
}

}  // namespace landtrace::output
