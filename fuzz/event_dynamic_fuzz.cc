// Input: a line of dynamic_events or synthetic_events. What is taken means the same when it is written as the files
// show it, and its `format` file says what its slot does.
#include <cstdint>
#include <string>
#include <string_view>

#include "event/print.hpp"
#include "event/synthetic.hpp"
#include "event_require.hpp"
#include "language/probe/event_probe_command.hpp"
#include "language/synthetic/command.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::event;
using namespace landtrace::language;

void require_consistent(const Declaration& declared, std::string_view system, std::string_view bytes) {
  const auto again = parse_declared(declared.name, fields_text(declared), flavour_text(declared));
  LT_REQUIRE(again && *again == declared);
  const auto parsed = parse_format(format_text(declared, declared.name, 7), system);
  LT_REQUIRE(parsed);
  LT_REQUIRE(parsed->declaration.fields.size() == declared.fields.size());
  std::string text;
  print_fields(text, declared, std::as_bytes(std::span(bytes)));
}

void try_synthetic(const AcceptedSynthetic<SyntheticCommand>& command, std::string_view line) {
  if (!command) {
    LT_REQUIRE(command.error().position <= line.size());
    return;
  }
  if (command->kind != SyntheticCommand::Kind::kDefinition) return;
  const auto declared = parse_synthetic(*command, [](std::string_view) { return false; });
  if (!declared) {
    LT_REQUIRE(declared.error().position <= line.size());
    return;
  }
  LT_REQUIRE(declared->fields.size() <= kMaxSyntheticFields);
  require_consistent(*declared, kSyntheticSystem, line);
}

void try_event_probe(std::string_view line) {
  static const Declaration base = *parse_declaration("e1 u32 n;u64 v;char[8] s;__rel_loc char[] r");
  const auto command = EventProbeCommand::split(line);
  if (!command) {
    LT_REQUIRE(!command.error().logged.empty());
    return;
  }
  const auto arguments = command->arguments(base);
  if (!arguments) return;
  const Declaration declared = declare_event_probe(*command, *arguments);
  require_consistent(declared, "eprobes", line);
  const std::string shown = event_probe_text(*command, *arguments);
  LT_REQUIRE(EventProbeCommand::is_one(shown));
  const auto again = EventProbeCommand::split(shown);
  LT_REQUIRE(again);
  const auto same = again->arguments(base);
  LT_REQUIRE(same && event_probe_text(*again, *same) == shown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view line(reinterpret_cast<const char*>(data), size);
  line = line.substr(0, line.find_first_of(std::string_view("\n\0#", 3)));
  try_synthetic(split_synthetic(line), line);
  if (skip_spaces(line).starts_with("s:")) try_synthetic(split_dynamic_synthetic(line), line);
  if (EventProbeCommand::is_one(line)) try_event_probe(line);
  return 0;
}
