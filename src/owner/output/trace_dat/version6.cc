// The contents of version 6: one part after another, without a directory.
#include <fmt/format.h>

#include "output/trace_dat/contents.hpp"

namespace landtrace::output::trace_dat {
namespace {

// kallsyms and the printk formats: a u32 size and text, which we do not use.
Result<void> skip_sized(FileCursor& cursor, const char* what) {
  LT_TRY(const auto size, cursor.number<std::uint32_t>(what));
  return cursor.skip(size, what);
}

// True when the clock's name follows the table of regions.
Result<bool> read_options(FileCursor& cursor, Contents& contents) {
  bool has_clock = false;
  while (true) {
    LT_TRY(const auto option, cursor.number<Option>("option"));
    if (option == Option::kDone) return has_clock;
    LT_TRY(const auto size, cursor.number<std::uint32_t>("size of an option"));
    LT_TRY(const std::string data, cursor.text(size, "option"));
    take_option(option, data, contents);
    if (option == Option::kTraceClock) has_clock = true;
  }
}

Result<void> read_regions(FileCursor& cursor, Contents& contents) {
  for (std::uint32_t cpu = 0; cpu < contents.cpus; ++cpu) {
    LT_TRY(const auto offset, cursor.number<std::uint64_t>("offset of a CPU's events"));
    LT_TRY(const auto size, cursor.number<std::uint64_t>("size of a CPU's events"));
    contents.regions.push_back({cpu, offset, size});
  }
  return {};
}

}  // namespace

Result<void> read_version_6(const InputFile&, FileCursor& cursor, Contents& contents) {
  LT_CHECK(read_header_info(cursor));
  LT_CHECK(read_ftrace_formats(cursor, contents));
  LT_CHECK(read_event_formats(cursor, contents));
  LT_CHECK(skip_sized(cursor, "kallsyms"));
  LT_CHECK(skip_sized(cursor, "printk formats"));
  LT_CHECK(read_cmdlines(cursor, contents));
  LT_TRY(contents.cpus, cursor.number<std::uint32_t>("number of CPUs"));
  LT_CHECK(check_cpu_count(contents.cpus, cursor));

  bool has_clock = false;
  LT_TRY(std::string part, cursor.text(kOptions.size(), "kind of the rest"));
  if (part == kOptions) {
    LT_TRY(has_clock, read_options(cursor, contents));
    LT_TRY(part, cursor.text(kFlyrecord.size(), "kind of the rest"));
  }
  if (part == kLatency) return fail(ENOTSUP, "a text trace (latency), not a recording of events");
  if (part != kFlyrecord) return cursor.bad("neither options nor events before");
  LT_CHECK(read_regions(cursor, contents));
  if (!has_clock) return {};
  LT_TRY(const auto size, cursor.number<std::uint64_t>("size of the clock's name"));
  LT_TRY(const std::string clock, cursor.text(size, "name of the clock"));
  contents.clock = selected_clock(clock);
  return {};
}

}  // namespace landtrace::output::trace_dat
