// `landtrace report`
#include "cli/commands.hpp"
#include "cli/export/export_output.hpp"
#include "cli/export/recording_export.hpp"
#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/pager.hpp"
#include "cli/recording_file.hpp"
#include "cli/report_printer.hpp"

namespace landtrace::cli {
namespace {

struct ReportOptions {
  std::string file = "trace.dat";
  Selection::Texts wanted;
  bool no_pager = false;
  bool flame = false;
  std::string output;
  ReportPrinter::Options printer;
};

Result<void> check_options(ReportOptions& options) {
  if (!options.flame && !options.output.empty()) return fail(EINVAL, "--output is for --flame; > FILE for the text");
  if (options.flame && options.printer.follow) return fail(EINVAL, "--flame excludes --follow");
  LT_TRY(options.printer.selection, Selection::parse(options.wanted));
  return options.printer.style.check();
}

// A picture of it, or lines for other programs.
int report_flame(ReportOptions& options, output::TraceDatReader& reader) {
  if (!has_stacks(reader)) {
    return fail_with(kFailure, fmt::format("{} has no stacks: `landtrace record --trigger stacktrace` records them, "
                                           "and `landtrace flame` does it in one step",
                                           options.file));
  }
  RecordingExport::Options what{options.printer.selection, options.printer.limit};
  if (auto known = what.selection.know(reader.events(), reader.cpus()); !known) {
    return fail_with(kFailure, sentence(known.error()));
  }
  const bool is_picture = options.output.ends_with(".svg") || options.output.ends_with(".html");
  const auto format = export_format(is_picture ? "flame" : "folded");
  auto output = ExportOutput::open(**format, options.output, options.file,
                                   {.clock = reader.clock(), .has_stacks = true, .title = options.file});
  if (!output) return fail_with(kFailure, sentence(output.error()));
  RecordingExport exported(what, options.file, reader, output->exporter());
  exported.want_stacks();
  const bool is_sound = exported.run([&output] { return output->written().has_value(); });
  if (auto kept = output->keep(); !kept) return output->status_of(kept.error());
  if (!output->is_standard_output()) complain(output->text(exported.events()));
  if (reader.is_unfinished()) complain(unfinished_text(reader, options.file));
  const bool has_events = has_what_was_named(what.selection.patterns(), reader.events(), options.file);
  return is_sound && has_events ? kSuccess : kFailure;
}

int report(ReportOptions& options) {
  if (auto checked = check_options(options); !checked) return fail_with(kBadUse, sentence(checked.error()));
  daemon::DescriptorLimit descriptors;
  auto reader = open_recording(options.file);
  if (!reader) return fail_with(kFailure, sentence(reader.error(), options.file));
  survive_closed_output();
  if (options.flame) return report_flame(options, *reader);
  std::optional<Pager> pager;
  if (!options.printer.follow && !options.no_pager) {
    descriptors.restore();
    pager.emplace();
    descriptors.raise();
  }
  return ReportPrinter(options.printer, options.file, std::move(*reader)).print();
}

}  // namespace

void add_report(Program& program) {
  auto options = std::make_shared<ReportOptions>();
  Command& command = program.add("report", "Print a recording");
  command.option("FILE", options->file, "Recording to read; - is standard input", {.shows_default = true});
  Selection::add_options(command, options->wanted, "print");
  command.option("--limit", options->printer.limit, "Print no more than this many events", {.type = "N"});
  command.flag("--count", options->printer.count_only, "Print how many events there are of each kind, and no event");
  options->printer.style.add_options(command);
  command.flag("--follow", options->printer.follow, "Go on while the recording is written");
  command.flag("--flame", options->flame, "The stacks: a line for each, and how often it occurred");
  command.option("-o,--output", options->output, "With --flame: FILE.svg is a flame graph for a browser",
                 {.type = "FILE", .default_text = "lines on standard output"});
  command.flag("--no-pager", options->no_pager, "On a terminal, print everything at once; without it, $PAGER shows it");
  command.examples(
      "Examples:\n"
      "  landtrace report                                trace.dat as text, in the kernel's layout\n"
      "  landtrace report --json http.dat | jq .fields\n"
      "  landtrace report --follow                       what is recorded right now, as it comes\n"
      "  landtrace report -e 'http_*' --from 12.5 --to 13 --limit 100\n"
      "  landtrace report --flame -o flame.svg\n"
      "  landtrace report --filter 'status >= 500' --comm 'worker*' --delta");
  command.runs([options] { return report(*options); });
}

}  // namespace landtrace::cli
