#include "cli/live.hpp"

#include "cli/failure.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {
namespace {

Result<void> read_quantities(LiveOptions& options) {
  if (options.tracefs && options.command.empty()) {
    return fail(EINVAL, "--tracefs: there is no command to show files to");
  }
  LT_TRY(options.rings.ring_bytes, parse_buffer_size(options.buffer_size));
  if (options.duration.empty()) return {};
  LT_TRY(options.duration_ns, parse_time_option("--duration", options.duration));
  return {};
}

}  // namespace

void LiveOptions::add_options(Command& command_line, const std::string& usage) {
  listen.add_options(command_line);
  command_line.option("--buffer-size", buffer_size, "Buffer per CPU, with K, M or G",
                      {.type = "SIZE", .shows_default = true});
  command_line.option("--duration", duration, "Stop after this time", {.type = "SECONDS"});
  command_line.flag("--tracefs", tracefs, "Show the command the domain's files at /sys/kernel/tracing");
  command_line.takes_command(command, usage);
}

int LiveOptions::check() {
  if (auto read = read_quantities(*this); !read) return fail_with(kBadUse, sentence(read.error()));
  return listen.check(command);
}

Child::Output Live::command_output() const {
  if (options_.hides_command) return Child::Output::kNowhere;
  return options_.owns_standard_output ? Child::Output::kErrors : Child::Output::kShared;
}

Result<void> Live::start(Signals& signals) {
  if (!options_.command.empty()) {
    auto started =
        listening_.place().start(options_.command, options_.tracefs, signals.mask_before(), command_output());
    if (!started) {
      spawn_status_ = status_of_spawn_error(started.error());
      return tl::unexpected<Error>(started.error());
    }
    child_ = *started;
  }
  return options_.listen.programs.attach_to(listening_.place().socket());
}

int Live::refuse(int status, const Error& error) {
  if (before_messages_) before_messages_();
  return fail_with(status, sentence(error));
}

int Live::run(consumer::RecorderSink& sink, const Tune& tune) {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  if (auto begun = listening_.begin(options_.rings); !begun) return refuse(kFailure, begun.error());
  consumer::Collector collector(listening_.place().view(), listening_.session(), sink);
  std::ignore = collector.look();  // an error comes again
  if (!options_.hides_command) {
    if (options_.command.empty()) complain("watching " + listening_.place().text());
    listening_.say_what_is_waited_for(collector.types());
  }
  if (auto started = start(*signals); !started) {
    return refuse(spawn_status_ != 0 ? spawn_status_ : kFailure, started.error());
  }
  Recording recording(collector, sink, *signals, child_ ? &*child_ : nullptr, options_.duration_ns, false);
  recording.end_with(options_.listen.programs);
  if (options_.owns_standard_output) recording.be_for_standard_output();
  tune(recording, collector);
  recording.at_end([&] {
    if (before_messages_) before_messages_();
    listening_.say_what_was_not_probed();
  });
  const bool succeeded = recording.run();
  return end(recording, collector, succeeded);
}

// CMD goes the way of any program whose output nobody reads any more.
int Live::end(Recording& recording, const consumer::Collector& collector, bool succeeded) {
  if (recording.lost_its_reader()) {
    if (child_) child_->send(SIGTERM);
    recording.wait_for_child();
    return kSuccess;
  }
  listening_.say_what_became_of_rules();
  // Not behind an error, which has been told: what was ended early may have missed them.
  succeeded = succeeded && listening_.were_there(collector.types(), options_.tracefs);
  if (const std::uint64_t placeless = collector.totals().placeless; placeless > 0) {
    complain(fmt::format("{} events were lost: their threads found no place in the domain", count_text(placeless)));
  }
  recording.wait_for_child();
  const int status = child_ && child_->has_ended() ? child_->exit_status() : kSuccess;
  return status != kSuccess ? status : succeeded ? kSuccess : kFailure;
}

}  // namespace landtrace::cli
