// `landtrace export`
#include <memory>

#include "cli/commands.hpp"
#include "cli/export/formats.hpp"
#include "cli/export/output_file.hpp"
#include "cli/export/recording_export.hpp"
#include "cli/export/rules.hpp"
#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/pager.hpp"
#include "cli/quantity.hpp"
#include "cli/recording_file.hpp"
#include "cli/standard_streams.hpp"

namespace landtrace::cli {
namespace {

struct Options {
  std::string file = "trace.dat";
  std::string format;
  std::string output;
  Selection::Texts wanted;
  std::vector<std::string> span_texts;
  std::vector<std::string> counter_texts;
  std::vector<output::SpanRule> spans;
  std::vector<output::CounterRule> counters;
  RecordingExport::Options what;
};

// EPIPE: nobody reads any more, as with `| head`.
int status_of(const Result<void>& written, const std::string& output) {
  if (written || written.error().code == EPIPE) return kSuccess;
  return fail_with(kFailure, sentence(written.error(), output == "-" ? "standard output" : output));
}

int export_to(const ExportFormat& format, Options& options, output::TraceDatReader& reader) {
  auto file = OutputFile::create(options.output, options.file, format.is_binary);
  if (!file) return fail_with(kFailure, sentence(file.error()));
  output::Target target(file->fd());
  const auto exporter = format.make(target, {reader.clock(), has_stacks(reader), options.spans, options.counters});
  RecordingExport exported(options.what, options.file, reader, *exporter);
  const bool is_sound = exported.run([&target] { return target.result().has_value(); });
  target.flush();
  if (!target.result()) return status_of(target.result(), options.output);
  if (reader.is_unfinished()) complain(unfinished_text(reader, options.file));
  if (auto kept = file->keep(); !kept) return fail_with(kFailure, sentence(kept.error()));
  if (options.output != "-") {
    const std::uint64_t events = exported.events();
    complain(fmt::format("{} event{} in {}{}", count_text(events), events == 1 ? "" : "s", options.output,
                         file->has_replaced() ? fmt::format("; what was there is {}.old", options.output) : ""));
  }
  const bool has_events = has_what_was_named(options.what.selection.patterns(), reader.events(), options.file);
  return is_sound && has_events ? kSuccess : kFailure;
}

Result<const ExportFormat*> check_options(Options& options) {
  if (options.format.empty()) {
    return fail(EINVAL, fmt::format("--format is required: one of {}", export_format_names()));
  }
  LT_TRY(const ExportFormat* const format, export_format(options.format));
  LT_TRY(options.what.selection, Selection::parse(options.wanted));
  for (const std::string& text : options.span_texts) {
    LT_TRY(output::SpanRule span, parse_span(text));
    options.spans.push_back(std::move(span));
  }
  for (const std::string& text : options.counter_texts) {
    LT_TRY(output::CounterRule counter, parse_counter(text));
    options.counters.push_back(std::move(counter));
  }
  if (!format->has_spans && !(options.spans.empty() && options.counters.empty())) {
    return fail(EINVAL, fmt::format("--format {} has no spans and no counters; chrome has", format->name));
  }
  return format;
}

int export_recording(Options& options) {
  const auto format = check_options(options);
  if (!format) return fail_with(kBadUse, sentence(format.error()));
  auto reader = open_recording(options.file);
  if (!reader) return fail_with(kFailure, sentence(reader.error(), options.file));
  if (auto known = options.what.selection.know(reader->events(), reader->cpus()); !known) {
    return fail_with(kFailure, sentence(known.error()));
  }
  if (auto fit = check_rules(options.spans, options.counters, reader->events()); !fit) {
    return fail_with(kFailure, sentence(fit.error()));
  }
  survive_closed_output();
  if (options.output.empty()) options.output = (*format)->file;
  return export_to(**format, options, *reader);
}

}  // namespace

void add_export(Program& program) {
  auto options = std::make_shared<Options>();
  Command& command = program.add("export", "Write a recording in another format");
  command.option("FILE", options->file, "Recording to read; - is standard input", {.shows_default = true});
  command.option("--format", options->format, "One of " + export_format_names(), {.type = "NAME"});
  command.option("-o,--output", options->output, "File to write; - is standard output",
                 {.type = "FILE", .default_text = "standard output; perf.data for perf"});
  Selection::add_options(command, options->wanted, "write");
  command.option("--limit", options->what.limit, "Write no more than this many events", {.type = "N"});
  command.repeated("--span", options->span_texts,
                   "A span from each FROM to the next TO with the same KEY, a field of both; may be repeated",
                   {.type = "FROM,TO,KEY"});
  command.repeated("--counter", options->counter_texts, "A track of a field's values; may be repeated",
                   {.type = "EVENT.FIELD"});
  command.examples(
      "Examples:\n"
      "  landtrace export --format perf && perf script\n"
      "  landtrace export http.dat --format perf -o - | perf report -i -\n"
      "  landtrace export --format chrome --span request,response,id -o trace.json\n"
      "  landtrace export --format folded | flamegraph.pl >flame.svg");
  command.runs([options] { return export_recording(*options); });
}

}  // namespace landtrace::cli
