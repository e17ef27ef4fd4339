#include "cli/listen_options.hpp"

#include "cli/failure.hpp"
#include "cli/usdt/choice.hpp"

namespace landtrace::cli {

void ListenOptions::add_options(Command& command) {
  add_event_options(command, events);
  programs.add_option(command);
}

int ListenOptions::check(const std::vector<std::string>& command) {
  if (auto checked = programs.check(command); !checked) return fail_with(checked.error());
  if (auto done = read(command); !done) {
    return fail_with(done.error().code == ENOENT ? kFailure : kBadUse, sentence(done.error()));
  }
  return kSuccess;
}

Result<void> ListenOptions::read(const std::vector<std::string>& command) {
  selections = events.selections();
  for (const std::size_t index : events.probes()) {
    const std::string& text = selections[index].pattern;
    LT_TRY(ProbeText probe, parse_probe(is_usdt_text(text) ? "--event" : "--probe", text));
    if (probe.is_usdt) {
      LT_CHECK(add_usdt(index, probe, command));
    } else {
      programs.find_object(probe);
      add_one(index, probe);
    }
  }
  return check_event_rules(selections);
}

void ListenOptions::add_one(std::size_t index, const ProbeText& probe) {
  // As long as there is no better name.
  selections[index].pattern = fmt::format("{}:{}", probe.group(), probe.is_pattern() ? "*" : probe.event_name());
  probes.emplace_back(index, probe);
}

// All that it names are recorded in the same way.
Result<void> ListenOptions::add_usdt(std::size_t index, const ProbeText& text,
                                     const std::vector<std::string>& command) {
  LT_TRY(const std::vector<ProbeText> places, usdt_probes(text, command, programs.pids()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0) selections.push_back(selections[index]);
    add_one(i == 0 ? index : selections.size() - 1, places[i]);
  }
  return {};
}

}  // namespace landtrace::cli
