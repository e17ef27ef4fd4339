// `landtrace record`
#include "cli/commands.hpp"
#include "cli/export/export_output.hpp"
#include "cli/export/export_sink.hpp"
#include "cli/export/options.hpp"
#include "cli/export/rules.hpp"
#include "cli/failure.hpp"
#include "cli/lines/wall_clock.hpp"
#include "cli/listening.hpp"
#include "cli/live.hpp"
#include "cli/pager.hpp"
#include "cli/quantity.hpp"
#include "cli/recording.hpp"
#include "cli/recording_file.hpp"
#include "cli/standard_streams.hpp"
#include "cli/trace_file_sink.hpp"
#include "cli/ui_page.hpp"
#include "cli/usual_rings.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::cli {
namespace {

struct RecordOptions {
  ListenOptions listen;
  FormatOptions format;
  std::string file;  // "": as the format has it
  std::string buffer_size;  // "": as large as usual
  std::string duration;
  bool overwrite = false;
  bool tracefs = false;
  bool ui = false;
  std::string ui_listen;
  bool to_standard_output = false;
  std::vector<std::string> command;

  consumer::Session::Options rings;
  std::uint64_t duration_ns = 0;
};

Result<void> check_options(RecordOptions& options) {
  if (options.tracefs && options.command.empty())
    return fail(EINVAL, "--tracefs: there is no command to show files to");
  if (!options.ui_listen.empty()) options.ui = true;
  if (options.ui && options.file == "-") return fail(EINVAL, "--ui excludes -o -");
  LT_CHECK(options.format.check());
  const ExportFormat* const format = options.format.chosen;
  if (format != nullptr && format->needs_all_types) {
    return fail(EINVAL,
                fmt::format("--format {} must know all events' fields before the first event: record without it, "
                            "then `landtrace export --format {}`",
                            format->name, format->name));
  }
  if (format != nullptr && options.ui) return fail(EINVAL, "--format excludes --ui");
  if (format != nullptr && options.overwrite) return fail(EINVAL, "--format excludes --overwrite");
  // A flight recorder's size is how much it keeps, and not what it can wait for.
  if (!options.overwrite) options.rings = usual_rings();
  options.rings.overwrite = options.overwrite;
  if (!options.buffer_size.empty()) {
    options.rings.least_ring_bytes = 0;
    LT_TRY(options.rings.ring_bytes, parse_buffer_size(options.buffer_size));
  }
  if (!options.duration.empty()) {
    LT_TRY(options.duration_ns, parse_time_option("--duration", options.duration));
  }
  return {};
}

struct Setup {
  std::optional<TraceFileSink> sink;
  std::optional<consumer::Collector> collector;
};

Result<void> set_up(RecordOptions& options, Listening& listening, Setup& setup) {
  LT_CHECK(listening.begin(options.rings));
  consumer::DomainView& view = listening.place().view();
  // The file is there when everything is recorded: scripts may wait for it.
  LT_TRY(output::TraceDatWriter writer,
         create_recording(options.file, {.cpus = view.cpus(), .wall_offset_ns = WallClock::offset_now()}));
  setup.sink.emplace(std::move(writer), listening.filter());
  setup.collector.emplace(view, listening.session(), *setup.sink);
  return {};
}

// What is in the file, and what became of an older one.
void say_where_it_is(const Setup& setup, const RecordOptions& options) {
  const bool is_beside_older = setup.sink->kept_older() && setup.sink->written() > 0;
  const std::string& file = is_beside_older ? setup.sink->place() : options.file;
  complain(summary_text({setup.sink->written(), setup.sink->unwritten(), setup.collector->totals(),
                         setup.collector->processes(), options.to_standard_output ? "" : file}));
  if (setup.sink->has_replaced()) complain(fmt::format("the older recording is {}.old now", options.file));
  if (setup.sink->kept_older()) complain(fmt::format("{} is the older recording, as it was", options.file));
}

// In another format, as it comes.
int record_in_format(RecordOptions& options) {
  if (options.file == "-") survive_closed_output();
  auto output = ExportOutput::open(*options.format.chosen, options.file, "",
                                   {.has_stacks = true,
                                    .wall_offset_ns = WallClock::offset_now(),
                                    .spans = options.format.spans,
                                    .counters = options.format.counters,
                                    .title = fmt::format("{}", fmt::join(options.command, " ")),
                                    .lasts = true});
  if (!output) return fail_with(kFailure, sentence(output.error()));
  ExportSink sink(output->exporter(), [&output] {
    output->flush_now_and_then();
    return output->named(output->written());
  });
  sink.check_types([&options](const output::EventType& type) {
    return check_rules(options.format.spans, options.format.counters, type);
  });
  LiveOptions live;
  live.listen = std::move(options.listen);
  live.command = options.command;
  live.rings = options.rings;
  live.duration_ns = options.duration_ns;
  live.tracefs = options.tracefs;
  live.owns_standard_output = output->is_standard_output();
  const int status = Live(live).run(sink);
  if (sink.failure() && sink.failure()->code == EPIPE) return kSuccess;
  if (sink.failure()) {
    if (sink.events() > 0) output->leave();
    return status != kSuccess ? status : kFailure;
  }
  if (status != kSuccess && sink.events() == 0) return status;
  if (auto kept = output->keep(); !kept) {
    const int failed = output->status_of(kept.error());
    // The last of it had no room.
    if (!output->written()) output->leave();
    return failed;
  }
  if (const std::string what = output->exporter().complaint(); !what.empty()) complain(what);
  complain(output->is_standard_output() ? fmt::format("{} events", count_text(sink.events()))
                                        : output->text(sink.events()));
  return status;
}

// What is recorded of a domain of one's own is all that there is; of another one, what was asked for.
Result<UiPage> start_page(const RecordOptions& options, const std::string& socket, const sigset_t& mask) {
  std::vector<std::string> patterns;
  for (const auto& selection : options.listen.selections) patterns.push_back(selection.pattern);
  if (!options.command.empty()) patterns = {"*:*"};
  return UiPage::start(socket, options.ui_listen.empty() ? "127.0.0.1:0" : options.ui_listen, patterns, mask);
}

int record_to_file(RecordOptions& options) {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  Listening listening(options.listen, options.command);
  Setup setup;
  if (auto done = set_up(options, listening, setup); !done) return fail_with(kFailure, sentence(done.error()));
  Workplace& place = listening.place();

  if (options.command.empty()) complain("recording " + place.text());
  std::ignore = setup.collector->look();  // an error comes again
  listening.say_what_is_waited_for(setup.collector->types());

  std::optional<UiPage> page;
  if (options.ui) {
    auto started = start_page(options, place.socket(), signals->mask_before());
    if (!started) return fail_with(kFailure, sentence(started.error()));
    page.emplace(*std::move(started));
  }
  std::optional<Child> child;
  if (!options.command.empty()) {
    auto started = place.start(options.command, options.tracefs, signals->mask_before());
    if (!started) return fail_with(status_of_spawn_error(started.error()), sentence(started.error()));
    child = *started;
  }
  RunningPrograms& programs = options.listen.programs;
  if (auto done = programs.attach_to(place.socket()); !done) return fail_with(kFailure, sentence(done.error()));
  Recording recording(*setup.collector, *setup.sink, *signals, child ? &*child : nullptr, options.duration_ns,
                      options.overwrite);
  recording.end_with(programs);
  recording.at_end([&] { listening.say_what_was_not_probed(); });
  bool succeeded = recording.run();
  listening.say_what_became_of_rules();
  // Not behind an error, which has been told: what was ended early may have missed them.
  succeeded = succeeded && listening.were_there(setup.collector->types(), options.tracefs);
  say_where_it_is(setup, options);
  recording.wait_for_child();
  const int status = child && child->has_ended() ? child->exit_status() : kSuccess;
  return status != kSuccess ? status : succeeded ? kSuccess : kFailure;
}

// Copies the recording to standard output. What cannot be copied stays where it is.
int hand_over(StandardOutput& output, int status) {
  const auto made = output::TraceDatReader::open(output.file());
  if (!made && made.error().code == ENOENT && status != kSuccess) return status;
  // One that could not be finished is several files. It was said where they are and how they become one.
  if (made && made->is_unfinished()) {
    output.leave();
    return status;
  }
  const Result<void> copied = made ? output.copy() : tl::unexpected<Error>(made.error());
  if (copied || copied.error().code == EPIPE) return status;
  output.leave();
  return fail_with(kFailure, fmt::format("{}; the recording is {}", sentence(copied.error()), output.file()));
}

int record(RecordOptions& options) {
  if (auto checked = check_options(options); !checked) return fail_with(kBadUse, sentence(checked.error()));
  if (const int status = options.listen.check(options.command); status != kSuccess) return status;
  if (options.format.chosen != nullptr) return record_in_format(options);
  if (options.file.empty()) options.file = "trace.dat";
  if (options.file != "-") return record_to_file(options);
  auto output = StandardOutput::take();
  if (!output) return fail_with(kBadUse, sentence(output.error()));
  options.to_standard_output = true;
  options.file = output->file();
  const int status = record_to_file(options);
  return hand_over(*output, status);
}

}  // namespace

void add_record(Program& program) {
  auto options = std::make_shared<RecordOptions>();
  Command& command = program.add("record", "Record the events of a command, or of a running domain");
  options->listen.add_options(command);
  command.option("-o,--output", options->file, "File to write; - is standard output",
                 {.type = "FILE", .default_text = "trace.dat; with --format as export has it"});
  options->format.add_options(command);
  command.option("--buffer-size", options->buffer_size, "Buffer per CPU, with K, M or G",
                 {.type = "SIZE", .default_text = "4M to 32M"});
  command.flag("--overwrite", options->overwrite, "Keep the newest events when a buffer is full; write at the end");
  command.option("--duration", options->duration, "Stop recording after this time", {.type = "SECONDS"});
  command.flag("--ui", options->ui, "Show what is recorded in a browser meanwhile, as landtrace ui does");
  command.option("--listen", options->ui_listen, "--ui, there", {.type = "ADDRESS:PORT"});
  command.flag("--tracefs", options->tracefs, "Show the command the domain's files at /sys/kernel/tracing");
  command.takes_command(options->command, "landtrace record [OPTIONS] [--] [CMD [ARG...]]");
  command.examples(
      "Examples:\n"
      "  landtrace record ./server --port 80             all events of ./server and its children\n"
      "  landtrace record -e 'user_events:http_*' -o http.dat -- ./server\n"
      "  landtrace record -p 'libc.so.6:malloc size=$arg1' -p 'libc.so.6:malloc%return p=$retval' -- ./server\n"
      "  landtrace record -e 'usdt:python3:function__*' -- python3 job.py\n"
      "  landtrace record --pid 1234 -p 'libc.so.6:malloc size=$arg1'    a program that runs already\n"
      "  landtrace record --overwrite -- ./server        keep the last events only\n"
      "  landtrace record --format perfetto --span request,response,id -- ./server\n"
      "  landtrace record --format json -o - -- ./server | jq .fields\n"
      "  landtrace record --ui -- ./server               … and show it in a browser meanwhile\n"
      "  landtrace record --duration 10                  what runs in the user's domain, for 10 seconds\n"
      "  landtrace record -e user_events:job --filter 'n > 5' --trigger 'traceoff if n == 100' ./server");
  command.runs([options] { return record(*options); });
}

}  // namespace landtrace::cli
