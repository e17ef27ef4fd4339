// `landtrace record`
#include <cerrno>

#include "cli/commands.hpp"
#include "cli/event_rules.hpp"
#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/probes/probe_set.hpp"
#include "cli/probes/running_programs.hpp"
#include "cli/quantity.hpp"
#include "cli/recording.hpp"
#include "cli/standard_streams.hpp"
#include "cli/static_program.hpp"
#include "cli/usdt/choice.hpp"
#include "cli/workplace.hpp"

namespace landtrace::cli {
namespace {

struct RecordOptions {
  EventRules events;
  std::vector<consumer::Session::Selection> selections;
  std::vector<std::pair<std::size_t, ProbeText>> probes;  // with the index of its selection
  std::string file = "trace.dat";
  std::string buffer_size = "4M";
  std::string duration;
  bool overwrite = false;
  bool tracefs = false;
  bool to_standard_output = false;
  std::vector<std::string> command;
  RunningPrograms programs;

  std::uint64_t ring_bytes = 0;
  std::uint64_t duration_ns = 0;
  EventFilter filter;
};

void add_one(RecordOptions& options, std::size_t index, const ProbeText& probe) {
  // As long as there is no better name.
  options.selections[index].pattern =
      fmt::format("{}:{}", probe.group(), probe.is_pattern() ? "*" : probe.event_name());
  options.probes.emplace_back(index, probe);
}

// All that it names are recorded in the same way.
Result<void> add_usdt(RecordOptions& options, std::size_t index, const ProbeText& text) {
  LT_TRY(const std::vector<ProbeText> probes, usdt_probes(text, options.command, options.programs.pids()));
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (i > 0) options.selections.push_back(options.selections[index]);
    add_one(options, i == 0 ? index : options.selections.size() - 1, probes[i]);
  }
  return {};
}

Result<void> check_options(RecordOptions& options) {
  if (options.tracefs && options.command.empty())
    return fail(EINVAL, "--tracefs: there is no command to show files to");
  for (const std::size_t index : options.events.probes()) {
    const std::string& text = options.selections[index].pattern;
    LT_TRY(ProbeText probe, parse_probe(is_usdt_text(text) ? "--event" : "--probe", text));
    if (probe.is_usdt) {
      LT_CHECK(add_usdt(options, index, probe));
    } else {
      options.programs.find_object(probe);
      add_one(options, index, probe);
    }
  }
  LT_CHECK(check_event_rules(options.selections));
  LT_TRY(options.ring_bytes, parse_size(options.buffer_size));
  if (!options.duration.empty()) {
    LT_TRY(options.duration_ns, parse_seconds(options.duration));
    if (options.duration_ns == 0) return fail(EINVAL, "--duration: want more than 0 seconds");
  }
  if (options.ring_bytes > 1ull << ring::kMaxSizeLog2) return fail(EINVAL, "--buffer-size: the limit is 16G");
  return {};
}

struct Setup {
  std::optional<Workplace> place;
  std::optional<ProbeSet> probes;
  std::optional<consumer::Session> session;
  std::optional<TraceFileSink> sink;
  std::optional<consumer::Collector> collector;

  // What somebody listens to cannot be removed.
  ~Setup() {
    if (probes && session) std::ignore = session->stop();
  }
};

// The events of -p, and what is recorded then.
Result<void> define_probes(RecordOptions& options, Setup& setup) {
  if (!options.probes.empty()) {
    LT_TRY(ProbeSet probes, ProbeSet::connect(setup.place->socket(), options.programs.as_command(options.command)));
    setup.probes.emplace(std::move(probes));
  }
  for (const auto& [index, probe] : options.probes) {
    LT_TRY(options.selections[index].pattern,
           probe.is_pattern() ? setup.probes->define_each(probe) : setup.probes->define(probe));
  }
  std::vector<std::string> patterns;
  for (const auto& selection : options.selections) patterns.push_back(selection.pattern);
  LT_TRY(options.filter, EventFilter::parse(patterns));
  return {};
}

// What a killed recorder left at the path is completed first, so that it becomes the older recording as any other.
Result<output::TraceDatWriter> create_file(const std::string& path, const output::TraceDatWriter::Options& options) {
  auto writer = output::TraceDatWriter::create(path, options);
  if (writer || writer.error().code != EEXIST) return writer;
  if (!output::complete_recording(path)) return writer;
  complain(path + " had been left unfinished; it is complete now");
  return output::TraceDatWriter::create(path, options);
}

// All that must be in place before CMD starts, so that its first event is caught.
Result<void> set_up(RecordOptions& options, Setup& setup) {
  LT_TRY(setup.place, Workplace::find(!options.command.empty(), options.ring_bytes));
  consumer::DomainView& view = setup.place->view();
  LT_CHECK(define_probes(options, setup));
  LT_TRY(setup.session, consumer::Session::open(view, {options.ring_bytes, options.overwrite}));
  for (const auto& selection : options.selections) LT_CHECK(setup.session->select(selection));
  // The file is there when everything is recorded: scripts may wait for it.
  LT_TRY(output::TraceDatWriter writer, create_file(options.file, {.cpus = view.cpus()}));
  setup.sink.emplace(std::move(writer), options.filter);
  setup.collector.emplace(view, *setup.session, *setup.sink);
  return {};
}

// Tells where the file does not have what the options asked for.
void say_what_became_of_rules(consumer::Session& session) {
  const auto state = session.state();
  if (!state) return;  // the domain has ended, and the user was told
  if (!state->recording) complain("a traceoff trigger ended what is recorded; no traceon followed");
  constexpr std::size_t kMostLines = 20;
  for (std::size_t i = 0; i < std::min(state->unfit.size(), kMostLines); ++i) complain(unfit_text(state->unfit[i]));
  if (state->unfit.size() > kMostLines) {
    complain(fmt::format("and {} more filters and triggers that do not fit", state->unfit.size() - kMostLines));
  }
}

// Of a domain that others are in: a mistyped name is better known before the recording than behind it.
void say_what_is_waited_for(Setup& setup, const RecordOptions& options) {
  std::ignore = setup.collector->look();  // an error comes again
  const std::vector<EventName> events = names_of(setup.collector->types());
  if (!options.command.empty() || events.empty()) return;
  for (const event::Pattern& pattern : unmatched(options.filter.patterns(), events)) {
    if (is_name(pattern))
      complain(fmt::format("waiting: {} yet{}", missing_text(pattern), instead_text(pattern, events)));
  }
}

// While the probes are there.
void say_what_was_not_probed(const Setup& setup, const RecordOptions& options) {
  std::vector<std::string> events;
  for (const auto& [index, probe] : options.probes) events.push_back(options.selections[index].pattern);
  options.programs.tell_refusals(setup.place->socket(), events, options.command);
}

// False: an event that was named was never there.
bool were_there(Setup& setup, const RecordOptions& options) {
  return complain_of_missing(options.filter.patterns(), names_of(setup.collector->types()),
                             why_none_registered(options.command, options.tracefs, setup.place->socket()));
}

// What is in the file, and what became of an older one.
void say_where_it_is(const Setup& setup, const RecordOptions& options) {
  complain(summary_text({setup.sink->written(), setup.sink->unwritten(), setup.collector->totals(),
                         setup.collector->processes(), options.to_standard_output ? "" : options.file}));
  if (setup.sink->has_replaced()) complain(fmt::format("the older recording is {}.old now", options.file));
  if (setup.sink->kept_older()) complain(fmt::format("{} is the older recording, as it was", options.file));
}

int record_to_file(RecordOptions& options) {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  Setup setup;
  if (auto done = set_up(options, setup); !done) return fail_with(kFailure, sentence(done.error()));

  if (options.command.empty()) complain("recording " + setup.place->text());
  say_what_is_waited_for(setup, options);

  std::optional<Child> child;
  if (!options.command.empty()) {
    auto started = setup.place->start(options.command, options.tracefs, signals->mask_before());
    if (!started) return fail_with(status_of_spawn_error(started.error()), sentence(started.error()));
    child = *started;
  }
  if (auto done = options.programs.attach_to(setup.place->socket()); !done) {
    return fail_with(kFailure, sentence(done.error()));
  }
  Recording recording(*setup.collector, *setup.sink, *signals, child ? &*child : nullptr, options.duration_ns,
                      options.overwrite);
  recording.end_with(options.programs);
  recording.at_end([&] { say_what_was_not_probed(setup, options); });
  bool succeeded = recording.run();
  say_what_became_of_rules(*setup.session);
  succeeded = were_there(setup, options) && succeeded;
  say_where_it_is(setup, options);
  recording.wait_for_child();
  const int status = child && child->has_ended() ? child->exit_status() : kSuccess;
  return status != kSuccess ? status : succeeded ? kSuccess : kFailure;
}

int record(RecordOptions& options) {
  if (auto checked = options.programs.check(options.command); !checked) {
    return fail_with(checked.error().code == EINVAL ? kBadUse : kFailure, sentence(checked.error()));
  }
  if (auto checked = check_options(options); !checked) {
    return fail_with(checked.error().code == ENOENT ? kFailure : kBadUse, sentence(checked.error()));
  }
  if (options.file != "-") return record_to_file(options);
  auto output = StandardOutput::take();
  if (!output) return fail_with(kBadUse, sentence(output.error()));
  options.to_standard_output = true;
  options.file = output->file();
  const int status = record_to_file(options);
  if (auto copied = output->copy(); !copied && copied.error().code != EPIPE) {
    return fail_with(kFailure, sentence(copied.error()));
  }
  return status;
}

}  // namespace

void add_record(Program& program) {
  auto options = std::make_shared<RecordOptions>();
  Command& command = program.add("record", "Record the events of a command, or of a running domain");
  add_event_options(command, options->events);
  options->programs.add_option(command);
  command.option("-o,--output", options->file, "File to write; - is standard output",
                 {.type = "FILE", .shows_default = true});
  command.option("--buffer-size", options->buffer_size, "Buffer per CPU, with K, M or G",
                 {.type = "SIZE", .shows_default = true});
  command.flag("--overwrite", options->overwrite, "Keep the newest events when a buffer is full; write at the end");
  command.option("--duration", options->duration, "Stop recording after this time", {.type = "SECONDS"});
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
      "  landtrace record --duration 10                  what runs in the user's domain, for 10 seconds\n"
      "  landtrace record -e user_events:job --filter 'n > 5' --trigger 'traceoff if n == 100' ./server");
  command.runs([options] {
    options->selections = options->events.selections();
    return record(*options);
  });
}

}  // namespace landtrace::cli
