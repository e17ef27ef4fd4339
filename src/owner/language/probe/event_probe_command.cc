#include "language/probe/event_probe_command.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "language/probe/event_probe_argument.hpp"
#include "language/words.hpp"

namespace landtrace::language {
namespace {

constexpr std::size_t kMaxName = 64;  // with the NUL that the kernel puts behind it

struct NameRefusal {
  std::string_view what;
  std::size_t offset;
};
struct Names {
  std::optional<std::string_view> group;
  std::optional<std::string_view> event;
};

// [GROUP/]EVENT or [GROUP.]EVENT; without an event there is a group.
tl::expected<Names, NameRefusal> split_names(std::string_view text) {
  const auto refuse = [](std::string_view what, std::size_t offset) {
    return tl::unexpected<NameRefusal>({what, offset});
  };
  Names names;
  auto slash = text.find('/');
  if (slash == std::string_view::npos) slash = text.find('.');
  std::size_t offset = 0;
  if (slash != std::string_view::npos) {
    if (slash == 0) return refuse("Group name is not specified", 0);
    if (slash + 1 > kMaxName) return refuse("Group name is too long", 0);
    names.group = text.substr(0, slash);
    if (!is_good_system_name(*names.group)) {
      return refuse("Group name must follow the same rules as C identifiers", 0);
    }
    offset = slash + 1;
  }
  const std::string_view event = text.substr(offset);
  if (event.empty()) {
    if (names.group) return names;
    return refuse("Event name is not specified", offset);
  }
  if (event.size() >= kMaxName) return refuse("Event name is too long", offset);
  if (!is_good_name(event)) return refuse("Event name must follow the same rules as C identifiers", offset);
  names.event = event;
  return names;
}

std::string joined(const std::vector<std::string_view>& words, std::size_t first = 0) {
  return fmt::format("{}", fmt::join(words.begin() + static_cast<std::ptrdiff_t>(first), words.end(), " "));
}

}  // namespace

bool EventProbeCommand::is_one(std::string_view line) {
  const auto words = split_words(line);
  return words.size() >= 2 && words[0].starts_with('e');
}

std::string EventProbeCommand::logged(std::string_view line) { return joined(split_words(line)); }

std::size_t EventProbeCommand::position_of(std::size_t word) const {
  std::size_t position = 0;
  for (std::size_t i = 0; i < words_.size() && i < word; ++i) position += words_[i].size() + 1;
  return position;
}

EventProbeRefusal EventProbeCommand::refusal(std::string_view what, std::size_t word, std::size_t offset,
                                             int code) const {
  return {code, {{code, what, position_of(word) + (word < words_.size() ? offset : 0)}}};
}

EventProbeRefusal EventProbeCommand::no_such_base() const {
  return refusal("Attached event does not exist", 1, 0, ENODEV);
}
EventProbeRefusal EventProbeCommand::name_is_taken() const {
  return refusal("Given group/event name is already used by another event", 0, 0, EEXIST);
}

EventProbeRefusal EventProbeCommand::no_filter() const { return refusal("No filter rule after 'if'", words_.size()); }

AcceptedEventProbe<EventProbeCommand> EventProbeCommand::split(std::string_view line) {
  const auto refuse = [](EventProbeRefusal refusal) { return tl::unexpected<EventProbeRefusal>(std::move(refusal)); };
  EventProbeCommand command;
  command.words_ = split_words(line);
  const auto& words = command.words_;
  std::optional<std::string_view> event;
  if (const auto colon = words[0].find(':', 1); colon != std::string_view::npos) {
    const auto names = split_names(words[0].substr(colon + 1));
    if (!names) return refuse(command.refusal(names.error().what, 0, colon + 1 + names.error().offset));
    if (names->group) command.group_ = *names->group;
    event = names->event;
  }
  const auto base = split_names(words[1]);
  if (!base || !base->group || !base->event) {
    EventProbeRefusal refusal;
    if (!base) refusal = command.refusal(base.error().what, 1, base.error().offset);
    refusal.logged.push_back(command.refusal("This requires both group and event name to attach", 1).logged[0]);
    return refuse(std::move(refusal));
  }
  command.base_system_ = *base->group;
  command.base_name_ = *base->event;
  command.name_ = event.value_or(*base->event);

  std::size_t end = 2;
  while (end < words.size() && words[end] != "if") ++end;
  command.arguments_end_ = end;
  if (end - 2 > kMaxEventProbeArguments) {
    return refuse(command.refusal("Too many arguments are specified", 2, 0, E2BIG));
  }
  if (end + 1 < words.size()) command.filter_ = joined(words, end + 1);
  return command;
}

AcceptedEventProbe<std::vector<EventProbeArgument>> EventProbeCommand::arguments(const event::Declaration& base) const {
  std::vector<EventProbeArgument> arguments;
  for (std::size_t word = 2; word < arguments_end_; ++word) {
    EventProbeArgumentParser parser(base, arguments);
    auto argument = parser.parse(words_[word]);
    if (!argument) {
      EventProbeRefusal refused{argument.error(), {}};
      for (const CommandRefusal& each : parser.logged()) {
        refused.logged.push_back({refused.code, each.what, position_of(word) + each.position});
      }
      return tl::unexpected<EventProbeRefusal>(std::move(refused));
    }
    arguments.push_back(*std::move(argument));
  }
  return arguments;
}

std::string event_probe_text(const EventProbeCommand& command, const std::vector<EventProbeArgument>& arguments) {
  std::string text =
      fmt::format("e:{}/{} {}.{}", command.group(), command.name(), command.base_system(), command.base_name());
  for (const EventProbeArgument& argument : arguments) {
    fmt::format_to(std::back_inserter(text), " {}={}", argument.name, argument.text);
  }
  return text;
}

event::Declaration declare_event_probe(const EventProbeCommand& command,
                                       const std::vector<EventProbeArgument>& arguments) {
  std::vector<event::Field> fields;
  for (const EventProbeArgument& argument : arguments) {
    fields.push_back(event::event_probe_field(*argument.type, argument.count, argument.name));
  }
  return event::lay_out_event_probe(command.name(), std::move(fields),
                                    fmt::format("{}.{}", command.base_system(), command.base_name()));
}

}  // namespace landtrace::language
