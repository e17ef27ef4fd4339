// Input: what is written to a `trigger` file. A command that is taken means the same when it is written as the file
// shows it.
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "event_require.hpp"
#include "language/trigger/command.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::language;

// The line as a command: "unlimited" and "count=" are for readers alone. (Unlimited is -1: without it white space at
// the end of an event's name would be at the end of the command.)
std::string as_command(const TriggerCommand& command, std::int64_t count, const std::string& filter) {
  std::string text = trigger_line(command, count, filter);
  LT_REQUIRE(text.back() == '\n');
  LT_REQUIRE(text.starts_with(name_of(command.kind)));
  const std::string shown = count == kUnlimited ? ":unlimited" : ":count=";
  const std::size_t target = command.event.empty() ? 0 : command.system.size() + command.event.size() + 2;
  const std::size_t at = name_of(command.kind).size() + target;
  LT_REQUIRE(std::string_view(text).substr(at).starts_with(shown));
  return text.replace(at, shown.size(), count == kUnlimited ? ":18446744073709551615" : ":");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto command = parse_trigger({reinterpret_cast<const char*>(data), size});
  if (!command) {
    LT_REQUIRE(command.error().code == EINVAL);
    return 0;
  }
  if (command->kind == TriggerKind::kHist) {  // hist_command_fuzz reads on
    LT_REQUIRE(!command->definition.empty());
    return 0;
  }
  LT_REQUIRE(command->event.empty() != has_target(family_of(command->kind)));
  LT_REQUIRE(command->event.find(':') == std::string::npos && command->system.find(':') == std::string::npos);
  const auto count = trigger_count(*command);
  LT_REQUIRE(count || count.error().code == EINVAL || count.error().code == ERANGE);
  const auto filter = trigger_filter(*command);
  LT_REQUIRE(filter || filter.error().code == EINVAL);
  if (!count || !filter) return 0;
  LT_REQUIRE(filter->find('\0') == std::string::npos);
  if (*count < kUnlimited) return 0;  // above 2^63: shown as the kernel shows it, which cannot be written back

  const auto again = parse_trigger(as_command(*command, *count, *filter));
  LT_REQUIRE(again);
  LT_REQUIRE(!again->removes && again->kind == command->kind);
  LT_REQUIRE(again->system == command->system && again->event == command->event);
  const auto same_count = trigger_count(*again);
  LT_REQUIRE(same_count && *same_count == *count);
  const auto same_filter = trigger_filter(*again);
  LT_REQUIRE(same_filter && *same_filter == *filter);
  return 0;
}
