// `landtrace report`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/pager.hpp"
#include "cli/recording_file.hpp"
#include "cli/report_printer.hpp"
#include "cli/time_range.hpp"

namespace landtrace::cli {
namespace {

struct ReportOptions {
  std::string file = "trace.dat";
  std::vector<std::string> patterns;
  TimeRange times;
  bool no_pager = false;
  ReportPrinter::Options printer;
};

Result<void> check_options(ReportOptions& options) {
  ReportPrinter::Options& printer = options.printer;
  LT_TRY(printer.filter, EventFilter::parse(options.patterns));
  return options.times.parse(printer.from_ns, printer.to_ns);
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
  options->times.add_to(command, "print");
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
