// `landtrace top`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/live.hpp"
#include "cli/process_sink.hpp"
#include "cli/quantity.hpp"
#include "cli/rates/rate_sink.hpp"

namespace landtrace::cli {
namespace {

struct TopOptions {
  LiveOptions live;
  RateSink::Options rates;
  std::string interval = "1";
  std::string by = "events";
  std::string sort = "rate";
  std::uint64_t rows = 0;
};

Result<void> check_options(TopOptions& options) {
  LT_TRY(options.rates.view.by, RateView::parse_by(options.by));
  LT_TRY(options.rates.view.sort, RateView::parse_sort(options.sort));
  LT_TRY(options.rates.interval_ns, parse_time_option("--interval", options.interval));
  options.rates.view.rows = options.rows;
  return {};
}

int top(TopOptions& options) {
  std::optional<Keyboard> keyboard;
  if (!options.rates.json && options.rates.count == 0) {
    auto taken = Keyboard::take();
    if (!taken && taken.error().code != ENOTTY) return fail_with(kFailure, sentence(taken.error()));
    if (taken) keyboard.emplace(*std::move(taken));
  }
  // On the screen a command's own output would be in the way.
  options.live.hides_command = keyboard.has_value();
  options.live.owns_standard_output = !keyboard;
  RateSink sink(options.rates, keyboard ? &*keyboard : nullptr);
  Live live(options.live);
  live.before_messages([&keyboard] { keyboard.reset(); });
  ProcessSink theirs(sink, options.live.listen.programs.pids());
  return live.run(theirs);
}

}  // namespace

void add_top(Program& program) {
  auto options = std::make_shared<TopOptions>();
  Command& command = program.add("top", "Show which events and programs there are most of, live");
  options->live.add_options(command, "landtrace top [OPTIONS] [--] [CMD [ARG...]]");
  command.option("--by", options->by, "events or programs", {.type = "WHAT", .shows_default = true});
  command.option("--sort", options->sort, "By rate, count, bytes or name", {.type = "COLUMN", .shows_default = true});
  command.option("--match", options->rates.view.match, "Only rows with this in their names", {.type = "TEXT"});
  command.option("--rows", options->rows, "Show so many rows at most", {.type = "N"});
  command.option("--interval", options->interval, "Show it so often", {.type = "SECONDS", .shows_default = true});
  command.option("--count", options->rates.count, "Print so many tables, one behind the other, and end", {.type = "N"});
  command.flag("--json", options->rates.json, "One line of JSON each time");
  command.examples(
      "Examples:\n"
      "  landtrace top                                   what happens in the user's domain; q quits\n"
      "  landtrace top -e 'http_*' --by programs\n"
      "  landtrace top --count 1 --interval 10           one table of ten seconds\n"
      "  landtrace top --json -- ./server | jq .by_event");
  command.runs([options] {
    if (auto checked = check_options(*options); !checked) return fail_with(kBadUse, sentence(checked.error()));
    const int status = options->live.check();
    return status != kSuccess ? status : top(*options);
  });
}

}  // namespace landtrace::cli
