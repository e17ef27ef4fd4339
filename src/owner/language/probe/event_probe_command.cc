#include "language/probe/event_probe_command.hpp"

#include <fmt/format.h>

#include <optional>

#include "language/probe/argument.hpp"
#include "language/probe/names.hpp"
#include "language/words.hpp"

namespace landtrace::language {

bool EventProbeCommand::is_one(std::string_view line) {
  const auto words = split_words(line);
  return words.size() >= 2 && words[0].starts_with('e');
}

ProbeRefusal EventProbeCommand::no_such_base() const {
  return words_.refusal("Attached event does not exist", 1, 0, ENODEV);
}
ProbeRefusal EventProbeCommand::name_is_taken() const {
  return words_.refusal("Given group/event name is already used by another event", 0, 0, EEXIST);
}

ProbeRefusal EventProbeCommand::no_filter() const { return words_.refusal("No filter rule after 'if'", words_.size()); }

AcceptedProbe<EventProbeCommand> EventProbeCommand::split(std::string_view line) {
  const auto refuse = [](ProbeRefusal refusal) { return tl::unexpected<ProbeRefusal>(std::move(refusal)); };
  EventProbeCommand command;
  command.words_ = CommandWords(line);
  const auto& words = command.words_;
  std::optional<std::string_view> event;
  if (const auto colon = words[0].find(':', 1); colon != std::string_view::npos) {
    const auto names = split_probe_names(words[0].substr(colon + 1));
    if (!names) return refuse(command.words_.refusal(names.error().what, 0, colon + 1 + names.error().offset));
    if (names->group) command.group_ = *names->group;
    event = names->event;
  }
  const auto base = split_probe_names(words[1]);
  if (!base || !base->group || !base->event) {
    ProbeRefusal refusal;
    if (!base) refusal = command.words_.refusal(base.error().what, 1, base.error().offset);
    refusal.logged.push_back(command.words_.refusal("This requires both group and event name to attach", 1).logged[0]);
    return refuse(std::move(refusal));
  }
  command.base_system_ = *base->group;
  command.base_name_ = *base->event;
  command.name_ = event.value_or(*base->event);

  std::size_t end = 2;
  while (end < words.size() && words[end] != "if") ++end;
  command.arguments_end_ = end;
  if (end - 2 > kMaxProbeArguments) {
    return refuse(command.words_.refusal("Too many arguments are specified", 2, 0, E2BIG));
  }
  if (end + 1 < words.size()) command.filter_ = words.joined(end + 1);
  return command;
}

AcceptedProbe<std::vector<ProbeArgument>> EventProbeCommand::arguments(const event::Declaration& base) const {
  return parse_arguments(words_, arguments_end_, {FetchScope::Kind::kEvent, false, false, &base});
}

std::string event_probe_text(const EventProbeCommand& command, const std::vector<ProbeArgument>& arguments) {
  return fmt::format("e:{}/{} {}.{}{}", command.group(), command.name(), command.base_system(), command.base_name(),
                     arguments_text(arguments));
}

event::Declaration declare_event_probe(const EventProbeCommand& command, const std::vector<ProbeArgument>& arguments) {
  return event::lay_out_probe(event::Flavour::kEventProbe, command.name(), fields_of(arguments),
                              fmt::format("{}.{}", command.base_system(), command.base_name()));
}

}  // namespace landtrace::language
