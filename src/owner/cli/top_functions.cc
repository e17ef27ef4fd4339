// `landtrace top-functions`
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "cli/top/watched_functions.hpp"

namespace landtrace::cli {
namespace {

// Of a session that records nothing.
constexpr std::uint64_t kSmallestRings = 64 * 1024;
// Each function takes two of the 8192 counters that a domain has for probes.
constexpr std::uint64_t kMostFunctions = 4000;

struct TopFunctionsOptions : WatchOptions {
  std::vector<std::string> wanted;
  std::string sort = "calls";
  std::uint64_t rows = 0;
  std::uint64_t limit = 2000;
};

Result<TopOrder> order_of(const std::string& text) {
  constexpr std::array kOrders{std::pair("calls", TopOrder::kCalls), std::pair("total", TopOrder::kTotal),
                               std::pair("mean", TopOrder::kMean), std::pair("max", TopOrder::kMax)};
  for (const auto& [name, order] : kOrders) {
    if (text == name) return order;
  }
  return fail(EINVAL, fmt::format("--sort: want calls, total, mean or max, not '{}'", text));
}

// `top-functions ./server` without a "--": words that can be no functions are the CMD.
void find_command(TopFunctionsOptions& options) {
  const bool names_functions =
      options.wanted.empty() || options.wanted.front().find_first_of(":*?[") != std::string::npos;
  if (options.command.empty() && !names_functions) options.command = std::exchange(options.wanted, {});
}

int top_functions(TopFunctionsOptions& options) {
  find_command(options);
  auto checked = check_watch_options(options, ::isatty(STDOUT_FILENO) == 1);
  if (!checked) return fail_with(checked.error());
  const std::vector<std::string> command = options.programs.as_command(options.command);
  if (auto known = check_wanted(options.wanted, command); !known) {
    return fail_with(kBadUse, sentence(known.error()));
  }
  const auto order = order_of(options.sort);
  if (!order) return fail_with(kBadUse, sentence(order.error()));
  if (options.limit == 0 || options.limit > kMostFunctions) {
    return fail_with(kBadUse, fmt::format("--limit: want 1 to {}", kMostFunctions));
  }
  auto set = find_functions(options.wanted, command, options.limit);
  if (!set) return fail_with(kFailure, sentence(set.error()));
  WatchedFunctions functions(options, *std::move(set), {*order, options.rows});
  return Watch(options, {}, functions, kSmallestRings).run();
}

}  // namespace

void add_top_functions(Program& program) {
  auto options = std::make_shared<TopFunctionsOptions>();
  Command& command = program.add("top-functions", "Show which functions are called most, and how long they take");
  command.words("OBJECT:GLOB", options->wanted, "The functions; without any, all of CMD's program");
  command.option("--sort", options->sort, "By calls, total, mean or max", {.type = "COLUMN", .shows_default = true});
  command.option("--rows", options->rows, "Show so many functions at most", {.type = "N"});
  command.option("--limit", options->limit, "Refuse to watch more functions than these",
                 {.type = "N", .shows_default = true});
  options->programs.add_option(command);
  command.option("--interval", options->interval, "Show it so often (on a terminal: 1; else at the end alone)",
                 {.type = "SECONDS"});
  command.option("--duration", options->duration, "Stop after this time", {.type = "SECONDS"});
  command.flag("--json", options->json, "One line of JSON each time");
  command.takes_command(options->command, "landtrace top-functions [OPTIONS] [OBJECT:GLOB...] [-- CMD [ARG...]]");
  command.examples(
      "Examples:\n"
      "  landtrace top-functions -- ./server                      all functions of ./server, until it ends\n"
      "  landtrace top-functions --sort total 'libz.so.1:*' 'parse_*' -- ./server\n"
      "  landtrace top-functions --duration 10 --pid $(pidof server)\n"
      "  landtrace top-functions --duration 10 --json 'libc.so.6:*alloc'    in the user's domain");
  command.runs([options] { return top_functions(*options); });
}

}  // namespace landtrace::cli
