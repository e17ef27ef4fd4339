// Input: a line of uprobe_events and of kprobe_events. What is taken means the same when it is written as the files
// show it, and its `format` file says what its slot does.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "event/print.hpp"
#include "event/probe_fields.hpp"
#include "event_require.hpp"
#include "language/probe/function_probe.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::event;
using namespace landtrace::language;

// Every path that begins with a slash is a file's, and every function there has 64 bytes.
class AnyObjects final : public ProbedObjects {
 public:
  int check_file(std::string_view path) override { return path.starts_with('/') ? 0 : ENOENT; }
  bool has_function(std::string_view path, std::string_view symbol, std::int64_t offset) override {
    return path.starts_with('/') && !symbol.empty() && offset < 64;
  }
  // The places' arguments are what the name says.
  int find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                std::vector<UsdtPlace>& places) override {
    if (!path.starts_with('/')) return ENOENT;
    std::string arguments(name);
    std::replace(arguments.begin(), arguments.end(), ';', ' ');
    places = {{0x10, 4, parse_usdt_operands(arguments)}, {0x20, 0, parse_usdt_operands(provider)}};
    for (const UsdtPlace& place : places) {
      for (const UsdtOperand& operand : place.arguments) {
        LT_REQUIRE(find_fetch_type(usdt_type(operand)) != nullptr);
        LT_REQUIRE(operand.can_be_read() == usdt_refusal(operand.kind).empty());
      }
    }
    return 0;
  }
  Answer look_up(std::string_view module, std::string_view symbol) override {
    if (!module.starts_with('l')) return Answer::kNoModule;
    return symbol.empty() ? Answer::kNoFunction : Answer::kFunction;
  }
};

void try_family(ProbeFamily family, std::string_view line) {
  AnyObjects objects;
  const FunctionProbeCommand command(family, line);
  const auto probe = command.parse(objects);
  if (!probe) {
    LT_REQUIRE(probe.error().code > 0);
    for (const CommandRefusal& each : probe.error().logged) LT_REQUIRE(each.position <= command.logged().size() + 3);
    return;
  }
  LT_REQUIRE(probe->arguments.size() <= kMaxProbeArguments);
  const Declaration declared = declare_function_probe(*probe);
  LT_REQUIRE(declared.min_size <= kMaxProbeValues + 16);
  const auto again = parse_declared(declared.name, fields_text(declared), flavour_text(declared));
  LT_REQUIRE(again && *again == declared);
  const auto parsed = parse_format(format_text(declared, "e", 7), "g");
  LT_REQUIRE(parsed && parsed->declaration.flavour == declared.flavour);
  std::string text;
  print_fields(text, declared, std::as_bytes(std::span(line)));
  // A name that was made of the place may be none that can be given.
  if (line.find(':') == std::string_view::npos || !is_good_name(probe->name)) return;
  const std::string shown = function_probe_text(*probe);
  const auto same = FunctionProbeCommand(family, shown).parse(objects);
  LT_REQUIRE(same && function_probe_text(*same) == shown);
  LT_REQUIRE(!first_difference(probe->arguments, same->arguments));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view line(reinterpret_cast<const char*>(data), size);
  line = line.substr(0, line.find_first_of(std::string_view("\n\0#", 3)));
  try_family(ProbeFamily::kUprobe, line);
  try_family(ProbeFamily::kKprobe, line);
  return 0;
}
