// `landtrace report`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/pager.hpp"
#include "cli/recording_file.hpp"
#include "cli/report_printer.hpp"

namespace landtrace::cli {
namespace {

struct ReportOptions {
  std::string file = "trace.dat";
  Selection::Texts wanted;
  bool no_pager = false;
  ReportPrinter::Options printer;
};

Result<void> check_options(ReportOptions& options) {
  ReportPrinter::Options& printer = options.printer;
  LT_TRY(printer.selection, Selection::parse(options.wanted));
  if (printer.json && (printer.is_relative || printer.is_delta)) {
    return fail(EINVAL, "--json excludes --relative and --delta: its times are numbers");
  }
  if (printer.is_relative && printer.is_delta) return fail(EINVAL, "--relative excludes --delta");
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
  Selection::add_options(command, options->wanted, "print");
  command.option("--limit", options->printer.limit, "Print no more than this many events", {.type = "N"});
  command.flag("--count", options->printer.count_only, "Print how many events there are of each kind, and no event");
  command.flag("--relative", options->printer.is_relative, "Times since the first event that is printed");
  command.flag("--delta", options->printer.is_delta, "Times since the event before");
  command.flag("--follow", options->printer.follow, "Go on while the recording is written");
  command.flag("--no-pager", options->no_pager, "On a terminal, print everything at once; without it, $PAGER shows it");
  command.examples(
      "Examples:\n"
      "  landtrace report                                trace.dat as text, in the kernel's layout\n"
      "  landtrace report --json http.dat | jq .fields\n"
      "  landtrace report --follow                       what is recorded right now, as it comes\n"
      "  landtrace report -e 'http_*' --from 12.5 --to 13 --limit 100\n"
      "  landtrace report --filter 'status >= 500' --comm 'worker*' --delta");
  command.runs([options] { return report(*options); });
}

}  // namespace landtrace::cli
