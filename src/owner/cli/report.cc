// `landtrace report`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "cli/pager.hpp"
#include "cli/recording_file.hpp"
#include "cli/report_printer.hpp"

namespace landtrace::cli {
namespace {

// Text shows rounded microseconds, so a time copied from there means half a microsecond to each side.
constexpr std::uint64_t kHalfMicrosecond_ns = 500;

struct ReportOptions {
  std::string file = "trace.dat";
  std::vector<std::string> patterns;
  std::string from;
  std::string to;
  bool no_pager = false;
  ReportPrinter::Options printer;
};

Result<void> check_options(ReportOptions& options) {
  ReportPrinter::Options& printer = options.printer;
  LT_TRY(printer.filter, EventFilter::parse(options.patterns));
  if (!options.from.empty()) {
    LT_TRY(const std::uint64_t from, parse_seconds(options.from));
    printer.from_ns = from - std::min(from, kHalfMicrosecond_ns);
  }
  if (!options.to.empty()) {
    LT_TRY(const std::uint64_t to, parse_seconds(options.to));
    printer.to_ns = to + kHalfMicrosecond_ns - 1;
  }
  return {};
}

int report(ReportOptions& options) {
  if (auto checked = check_options(options); !checked) return fail_with(kBadUse, sentence(checked.error()));
  auto reader = open_recording(options.file);
  if (!reader) return fail_with(kFailure, sentence(reader.error(), options.file));
  survive_closed_output();
  options.printer.for_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::optional<Pager> pager;
  if (!options.printer.follow && !options.no_pager) pager.emplace();
  return ReportPrinter(options.printer, options.file, std::move(*reader)).print();
}

}  // namespace

void add_report(Program& program) {
  auto options = std::make_shared<ReportOptions>();
  Command& command = program.add("report", "Print a recording");
  command.option("FILE", options->file, "Recording to read; - is standard input", {.shows_default = true});
  command.flag("--json", options->printer.json, "One JSON object a line");
  command.repeated("-e,--event", options->patterns, "SYSTEM:EVENT to print, globs allowed; may be repeated",
                   {.type = "PATTERN"});
  command.option("--limit", options->printer.limit, "Print no more than this many events", {.type = "N"});
  command.option("--from", options->from, "Time of the first event to print", {.type = "SECONDS"});
  command.option("--to", options->to, "Time of the last event to print", {.type = "SECONDS"});
  command.flag("--follow", options->printer.follow, "Go on while the recording is written");
  command.flag("--no-pager", options->no_pager, "On a terminal, print everything at once; without it, $PAGER shows it");
  command.examples(
      "Examples:\n"
      "  landtrace report                                trace.dat as text, in the kernel's layout\n"
      "  landtrace report --json http.dat | jq .fields\n"
      "  landtrace report --follow                       what is recorded right now, as it comes\n"
      "  landtrace report -e 'http_*' --from 12.5 --to 13 --limit 100");
  command.runs([options] { return report(*options); });
}

}  // namespace landtrace::cli
