#include "cli/histogram/watch_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cli/event_rules.hpp"
#include "cli/missing_events.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {
namespace {

Result<void> read_seconds(const char* option, const std::string& text, std::uint64_t& ns) {
  if (text.empty()) return {};
  LT_TRY(ns, parse_time_option(option, text));
  return {};
}

}  // namespace

void add_watch_options(Command& command, WatchOptions& options) {
  command.option("--filter", options.filter, "Only of events that this is true of", {.type = "EXPRESSION"});
  options.programs.add_option(command);
  command.option("--interval", options.interval, "Show it so often (on a terminal: 1; else at the end alone)",
                 {.type = "SECONDS"});
  command.option("--duration", options.duration, "Stop after this time", {.type = "SECONDS"});
  command.option("--size", options.size, "Rows that the table has room for (2048)", {.type = "ROWS"});
  command.flag("--json", options.json, "One line of JSON each time");
  command.flag("--tracefs", options.tracefs, "Show the command the domain's files at /sys/kernel/tracing");
}

Result<void> check_watch_options(WatchOptions& options, bool on_terminal) {
  constexpr std::uint64_t kSecond_ns = 1'000'000'000;
  if (options.tracefs && options.command.empty()) {
    return fail(EINVAL, "--tracefs: there is no command to show files to");
  }
  LT_CHECK(options.programs.check(options.command));
  if (on_terminal && !options.json) options.interval_ns = kSecond_ns;
  LT_CHECK(read_seconds("--interval", options.interval, options.interval_ns));
  LT_CHECK(read_seconds("--duration", options.duration, options.duration_ns));
  return options.filter.empty() ? Result<void>() : check_filter(options.filter);
}

std::string full_event_name(const std::string& name) {
  return name.find(':') == std::string::npos ? "user_events:" + name : name;
}

Result<void> check_event_name(const std::string& option, const std::string& name) {
  LT_TRY(const event::Pattern pattern, event::Pattern::parse(full_event_name(name)));
  if (is_name(pattern) && !name.ends_with(':')) return {};
  return fail(EINVAL, fmt::format("{}: want one event, not '{}'", option, name));
}

std::string without_modifier(const std::string& field) { return field.substr(0, field.find('.')); }

std::string with_commas(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ",")); }

// The kernel's sizes are powers of two; what is too large for one is left for the owner to refuse.
std::string size_text(const WatchOptions& options) {
  constexpr std::uint64_t kTooLarge = 1ull << 62;
  return options.size == 0 ? "" : fmt::format(":size={}", std::bit_ceil(std::min(options.size, kTooLarge)));
}

std::string trigger_end(const WatchOptions& options) {
  return size_text(options) + (options.filter.empty() ? "" : " if " + options.filter);
}

}  // namespace landtrace::cli
