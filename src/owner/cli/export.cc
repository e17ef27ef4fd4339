// `landtrace export`
#include <memory>

#include "cli/commands.hpp"
#include "cli/export/export_output.hpp"
#include "cli/export/options.hpp"
#include "cli/export/recording_export.hpp"
#include "cli/export/rules.hpp"
#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/pager.hpp"
#include "cli/recording_file.hpp"

namespace landtrace::cli {
namespace {

struct Options {
  std::string file = "trace.dat";
  FormatOptions format;
  std::string output;
  Selection::Texts wanted;
  RecordingExport::Options what;
};

int export_to_output(Options& options, output::TraceDatReader& reader) {
  auto output = ExportOutput::open(*options.format.chosen, options.output, options.file,
                                   {reader.clock(), has_stacks(reader), reader.wall_offset_ns(), options.format.spans,
                                    options.format.counters, options.file});
  if (!output) return fail_with(kFailure, sentence(output.error()));
  RecordingExport exported(options.what, options.file, reader, output->exporter());
  const bool is_sound = exported.run([&output] { return output->written().has_value(); });
  output->flush();
  if (auto written = output->written(); !written) return output->status_of(written.error());
  if (reader.is_unfinished()) complain(unfinished_text(reader, options.file));
  if (auto kept = output->keep(); !kept) return output->status_of(kept.error());
  if (!output->is_standard_output()) complain(output->text(exported.events()));
  const bool has_events = has_what_was_named(options.what.selection.patterns(), reader.events(), options.file);
  return is_sound && has_events ? kSuccess : kFailure;
}

Result<void> check_options(Options& options) {
  if (options.format.format.empty()) {
    return fail(EINVAL, fmt::format("--format is required: one of {}", export_format_names()));
  }
  LT_CHECK(options.format.check());
  LT_TRY(options.what.selection, Selection::parse(options.wanted));
  return {};
}

int export_recording(Options& options) {
  if (auto checked = check_options(options); !checked) return fail_with(kBadUse, sentence(checked.error()));
  const daemon::DescriptorLimit descriptors;
  auto reader = open_recording(options.file);
  if (!reader) return fail_with(kFailure, sentence(reader.error(), options.file));
  if (auto known = options.what.selection.know(reader->events(), reader->cpus()); !known) {
    return fail_with(kFailure, sentence(known.error()));
  }
  if (auto fit = check_rules(options.format.spans, options.format.counters, reader->events()); !fit) {
    return fail_with(kFailure, sentence(fit.error()));
  }
  survive_closed_output();
  return export_to_output(options, *reader);
}

}  // namespace

void add_export(Program& program) {
  auto options = std::make_shared<Options>();
  Command& command = program.add("export", "Write a recording in another format");
  command.option("FILE", options->file, "Recording to read; - is standard input", {.shows_default = true});
  options->format.add_options(command);
  command.option("-o,--output", options->output, "File to write; - is standard output",
                 {.type = "FILE", .default_text = "standard output; perf.data, trace.ctf, trace.pftrace"});
  Selection::add_options(command, options->wanted, "write");
  command.option("--limit", options->what.limit, "Write no more than this many events", {.type = "N"});
  command.examples(
      "Examples:\n"
      "  landtrace export --format perf && perf script\n"
      "  landtrace export http.dat --format perf -o - | perf report -i -\n"
      "  landtrace export --format chrome --span request,response,id -o trace.json\n"
      "  landtrace export --format perfetto --span request,response,id --counter request.size\n"
      "  landtrace export --format ctf -o http.ctf && babeltrace2 http.ctf\n"
      "  landtrace export --format folded | flamegraph.pl >flame.svg");
  command.runs([options] { return export_recording(*options); });
}

}  // namespace landtrace::cli
