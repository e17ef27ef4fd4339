// landtrace_bench: the figures that docs promise, each as a ratio to something measured in the same run.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "roles.hpp"
#include "supervisor.hpp"

namespace landtrace::bench {
namespace {

constexpr int kQuickRepetitions = 3;

struct Role {
  const char* name;
  int arguments;
  int (*run)(char** arguments);
};

constexpr Role kRoles[] = {
    {"measure", Setting::kArguments, [](char** a) { return measure(Setting::from_arguments(a)); }},
    {"owner", 1, [](char** a) { return own_domain(a[0]); }},
    {"portable", 2, [](char** a) { return emit_portably(a[0], a[1]); }},
    {"attacher", 1, [](char** a) { return attach_once(a[0]); }},
    {"registrar", 2, [](char** a) { return register_many(a[0], a[1]); }},
    {"read-emitter", 1, [](char** a) { return emit_for_readers(a[0]); }},
    {"page-events", 1, [](char** a) { return emit_spans(a[0]); }},
    {"fleet-emitter", 3, [](char** a) { return emit_for_fleet(a[0], a[1], a[2]); }},
    {"key-counter", 1, [](char** a) { return count_keys(a[0]); }},
    {"waiter", 0, [](char**) { return wait_for_enable_word(); }},
    {"mount-writer", 3, [](char** a) { return write_through_mount(a[0], a[1], a[2]); }},
    {"filler", 2, [](char** a) { return fill(a[0], a[1]); }},
    {"snapshot-taker", 1, [](char** a) { return take_snapshots(a[0]); }},
    {"trace-reader", 1, [](char** a) { return read_trace(a[0]); }},
    {"mount-lister", 2, [](char** a) { return list_through_mount(a[0], a[1]); }},
    {"patcher", 0, [](char**) { return patch_thousand(); }},
    {"mount-holder", 1, [](char** a) { return hold_on_mount(a[0]); }},
};

int play(int argc, char** argv) {
  for (const Role& role : kRoles) {
    if (std::strcmp(role.name, argv[2]) == 0 && argc == 3 + role.arguments) return role.run(argv + 3);
  }
  return 2;
}

int from_command_line(int argc, char** argv) {
  CLI::App app("Measures Landtrace against its bars and its peers, in one run, and prints one table");
  Setting setting;
  app.add_flag("--quick", setting.quick, "A short run: fewer repetitions, shorter ones");
  app.add_flag("--json", setting.json, "Print JSON instead of the table");
  auto* const repetitions = app.add_option("--repetitions", setting.repetitions, "Medians are over this many")
                                ->check(CLI::PositiveNumber)
                                ->capture_default_str();
  app.add_option("--filter", setting.filter, "Run only benchmarks whose name matches this regular expression");
  app.footer(
      "Exit status: 0 when everything was measured (whether or not a bar was met), 1 when something could "
      "not be\n"
      "or was not really recorded, 2 for bad use.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (setting.quick && repetitions->count() == 0) setting.repetitions = kQuickRepetitions;
  return supervise(setting);
}

}  // namespace
}  // namespace landtrace::bench

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  try {
    const bool has_role = argc >= 3 && std::strcmp(argv[1], "--role") == 0;
    return has_role ? landtrace::bench::play(argc, argv) : landtrace::bench::from_command_line(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "landtrace_bench: {}\n", error.what());
    return 1;
  }
}
