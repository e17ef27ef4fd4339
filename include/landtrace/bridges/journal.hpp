// Events as entries of systemd's journal, each field as a field of the journal.
//
//     landtrace::Reader reader;
//     reader.add_pattern("user_events:request_*");
//     reader.listen();
//     for (const landtrace::Record& record : reader) landtrace::bridges::send_to_journal(record);
//
// and then, say, `journalctl LANDTRACE_EVENT=request_done LANDTRACE_FIELD_STATUS=500`. An entry has
//
//     MESSAGE                what `landtrace report` prints behind the time: "request_done: id=0x2a (42)"
//     PRIORITY               6 (information), or as the caller says
//     SYSLOG_IDENTIFIER      the thread's name
//     LANDTRACE_SYSTEM, LANDTRACE_EVENT, LANDTRACE_PID (the process, where it is known), LANDTRACE_TID, LANDTRACE_CPU
//     LANDTRACE_TIME_NS      of the event, in the reader's clock: the journal's own time is when it was sent
//     LANDTRACE_LOST         how many events are missing before it, where some are
//     LANDTRACE_FIELD_NAME   of the field `name`: numbers in decimal, texts as they are, the rest as JSON
//
// Needs C++20; links -llandtrace-reader and -lsystemd. Not async-signal-safe; may throw std::bad_alloc.
#pragma once

#include <landtrace/reader.hpp>
#include <sys/uio.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::bridges {
namespace detail {

// The journal takes capitals, digits and underscores, at most 64.
inline std::string journal_name(std::string_view field) {
  constexpr std::size_t kLongest = 64;
  std::string name = "LANDTRACE_FIELD_";
  for (const char letter : field.substr(0, kLongest - name.size())) {
    name += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return name;
}

inline std::string_view without_time(std::string_view line, std::string_view event) {
  const std::size_t begin = line.find(": " + std::string(event) + ":");
  return begin == line.npos ? line : line.substr(begin + 2);
}

}  // namespace detail

// 0, or a negative errno of sd_journal_sendv(); 0 also where there is no journal.
inline int send_to_journal(const Record& record, int priority = 6) {
  std::vector<std::string> fields;
  const auto add = [&fields](std::string name, std::string_view value) {
    fields.push_back(std::move(name.append(1, '=').append(value)));
  };
  add("MESSAGE", detail::without_time(record.text(), record.name()));
  add("PRIORITY", std::to_string(priority));
  if (*record.comm() != '\0') add("SYSLOG_IDENTIFIER", record.comm());
  add("LANDTRACE_SYSTEM", record.system());
  add("LANDTRACE_EVENT", record.name());
  if (record.tgid() != 0) add("LANDTRACE_PID", std::to_string(record.tgid()));
  add("LANDTRACE_TID", std::to_string(record.tid()));
  add("LANDTRACE_CPU", std::to_string(record.cpu()));
  add("LANDTRACE_TIME_NS", std::to_string(record.time_ns()));
  if (record.lost() != 0)
    add("LANDTRACE_LOST", record.lost() == Record::kUnknown ? "some" : std::to_string(record.lost()));
  for (const FieldValue& field : record.fields()) add(detail::journal_name(field.name()), field.to_string());
  std::vector<iovec> vectors;
  vectors.reserve(fields.size());
  for (std::string& field : fields) vectors.push_back({field.data(), field.size()});
  return ::sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size()));
}

}  // namespace landtrace::bridges
