// `landtrace flame`
#include <algorithm>
#include <utility>

#include "cli/commands.hpp"
#include "cli/export/export_output.hpp"
#include "cli/export/export_sink.hpp"
#include "cli/failure.hpp"
#include "cli/live.hpp"
#include "cli/process_sink.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kStackTrigger = "stacktrace";

struct FlameOptions {
  LiveOptions live;
  std::string event;
  std::string output;
};

bool has_stack_trigger(const consumer::Session::Selection& selection) {
  return std::any_of(selection.triggers.begin(), selection.triggers.end(),
                     [](const std::string& trigger) { return trigger.starts_with(kStackTrigger); });
}

// `landtrace flame ./server` without a "--": what can be no event is the CMD.
void find_command(FlameOptions& options) {
  if (!options.live.command.empty() || options.event.find('/') == std::string::npos) return;
  options.live.command = {std::exchange(options.event, "")};
}

// By the name of the file: a picture, or lines for other programs.
Result<const ExportFormat*> format_of(const FlameOptions& options) {
  return export_format(options.output.ends_with(".svg") || options.output.ends_with(".html") ? "flame" : "folded");
}

std::string title_of(const FlameOptions& options) {
  const std::string command = fmt::format("{}", fmt::join(options.live.command, " "));
  if (command.empty()) return options.event.empty() ? "landtrace flame" : options.event;
  return options.event.empty() ? command : options.event + ": " + command;
}

int flame(FlameOptions& options) {
  for (auto& selection : options.live.listen.selections) {
    if (!has_stack_trigger(selection)) selection.triggers.emplace_back(kStackTrigger);
  }
  const auto format = format_of(options);
  if (!format) return fail_with(kBadUse, sentence(format.error()));
  auto output = ExportOutput::open(**format, options.output, "", {.clock = "mono", .title = title_of(options)});
  if (!output) return fail_with(kFailure, sentence(output.error()));
  ExportSink sink(output->exporter(), [&output] { return output->named(output->written()); });
  sink.leave_out_lone_stacks();
  options.live.owns_standard_output = output->is_standard_output();
  ProcessSink theirs(sink, options.live.listen.programs.pids());
  const int status = Live(options.live).run(theirs);
  if (sink.failure() && sink.failure()->code != EPIPE) return kFailure;
  // Nothing takes the place of an older picture.
  if (status != kSuccess && sink.events() == 0) return status;
  if (auto kept = output->keep(); !kept) return output->status_of(kept.error());
  if (const std::string what = output->exporter().complaint(); !what.empty()) complain(what);
  if (sink.events() > 0 && sink.with_stacks() == 0) {
    complain("none of the events had a stack: they stand under their names");
  }
  if (!output->is_standard_output()) complain(output->text(sink.events()));
  return status;
}

}  // namespace

void add_flame(Program& program) {
  auto options = std::make_shared<FlameOptions>();
  Command& command = program.add("flame", "Show where in programs events come from, as a flame graph of their stacks");
  command.option("EVENT", options->event, "The events, globs allowed; without any, all");
  command.option("-o,--output", options->output, "FILE.svg is a picture for a browser; others have a line a stack",
                 {.type = "FILE", .default_text = "lines on standard output"});
  options->live.add_options(command, "landtrace flame [OPTIONS] [EVENT] [-- CMD [ARG...]]");
  command.examples(
      "Examples:\n"
      "  landtrace flame -o flame.svg -- ./server                all events of ./server, by where they come from\n"
      "  landtrace flame cache_miss -o misses.svg -- ./server\n"
      "  landtrace flame -p libc.so.6:malloc -o malloc.svg -- ./server     who calls malloc\n"
      "  landtrace flame cache_miss --duration 10 | flamegraph.pl >flame.svg");
  command.runs([options] {
    find_command(*options);
    if (!options->event.empty()) options->live.listen.events.add_pattern(options->event);
    const int status = options->live.check();
    return status != kSuccess ? status : flame(*options);
  });
}

}  // namespace landtrace::cli
