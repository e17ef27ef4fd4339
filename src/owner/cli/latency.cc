// `landtrace latency`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/histogram/fits.hpp"
#include "cli/histogram/function_latency.hpp"
#include "measure/latency_sink.hpp"
#include "cli/histogram/watch.hpp"
#include "cli/quantity.hpp"
#include "consumer/collector.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMaxBy = 2;
constexpr const char* kLatencyField = "latency_ns";
// How often rings are emptied.
constexpr std::uint64_t kDrain_ns = 5'000'000;
// Of a session that records nothing.
constexpr std::uint64_t kFunctionRings = 64 * 1024;

struct LatencyOptions : WatchOptions {
  std::string function;
  std::string from;
  std::string to;
  std::vector<std::string> key;
  std::vector<std::string> to_key;
  std::vector<std::string> by;
  std::string buffer_size = "4M";
};

measure::LatencySink::Request request_of(const LatencyOptions& options) {
  return {.from = full_event_name(options.from),
          .to = full_event_name(options.to),
          .from_key = options.key,
          .to_key = options.to_key.empty() ? options.key : options.to_key,
          .by = options.by};
}

// Both events are recorded and paired here, not by histograms in the programs: their tables would be full of keys
// that are never used again, and could not be set up before the second event is there.
class WatchedPairs : public Watched {
 public:
  WatchedPairs(const LatencyOptions& options, measure::LatencySink::Request request)
      : options_(options), request_(std::move(request)), filter_(options.filter), sink_(request_, limits_of(options)) {}

  Result<void> begin(Workplace& place, consumer::Session& session) override {
    LT_CHECK(session.select({.pattern = request_.to}));
    // Behind the other one: of an event that is both, the filter counts.
    LT_CHECK(session.select({.pattern = request_.from, .filter = filter_}));
    collector_.emplace(place.view(), session, sink_);
    return {};
  }

  Result<std::uint64_t> look_ns() override {
    const auto more = collector_->drain();
    if (!more && more.error().code != EPIPE) return tl::unexpected<Error>(more.error());
    LT_CHECK(fit());
    return more && *more ? 0 : kDrain_ns;
  }

  Result<void> end() override {
    if (auto finished = collector_->finish(); !finished && finished.error().code != EPIPE) return finished;
    return fit();
  }

  Result<HistView> view(const HistShape& shape) override {
    LT_TRY(HistView view, make_view(shape, sink_.table(kLatencyField)));
    const consumer::Totals totals = collector_->totals();
    view.unpaired = {.starts = sink_.pairs().starts_without_end(),
                     .ends = sink_.pairs().ends_without_start(),
                     .lost = totals.discarded + totals.overwritten + totals.placeless};
    return view;
  }

  [[nodiscard]] std::vector<std::string> named() const override { return {request_.from, request_.to}; }

  [[nodiscard]] Result<void> fits(const output::EventType& type) const override {
    const std::string name = type.system + ":" + type.name;
    if (name == request_.from) {
      LT_CHECK(check_has_fields("--key", options_.key, type));
      LT_CHECK(check_filter_fits(options_.filter, type));
    }
    if (name != request_.to) return {};
    LT_CHECK(check_has_fields(options_.to_key.empty() ? "--key" : "--to-key", request_.to_key, type));
    return check_has_fields("--by", options_.by, type);
  }

 private:
  static measure::Pairs::Limits limits_of(const LatencyOptions& options) {
    measure::Pairs::Limits limits;
    if (options.size != 0) limits.rows = options.size;
    return limits;
  }

  // Said the same whether the sink or the watch meets the event first.
  [[nodiscard]] Result<void> fit() const {
    if (sink_.misfit()) LT_CHECK(fits(*sink_.misfit()));
    return sink_.fits();
  }

  const LatencyOptions& options_;
  measure::LatencySink::Request request_;
  std::string filter_;
  measure::LatencySink sink_;
  std::optional<consumer::Collector> collector_;
};

int latency_of_function(const LatencyOptions& options) {
  if (!options.from.empty() || !options.to.empty() || !options.key.empty() || !options.to_key.empty()) {
    return fail_with(kBadUse, "--function excludes --from, --to and --key");
  }
  auto request = WatchedFunction::request_of(options.function, options.by);
  if (!request) return fail_with(kBadUse, sentence(request.error()));
  const HistShape shape{request->function.place, request->by, {}, WatchedFunction::kLatencyField, true};
  WatchedFunction function(options, *std::move(request));
  return Watch(options, shape, function, kFunctionRings).run();
}

int latency(LatencyOptions& options) {
  auto checked = check_watch_options(options, ::isatty(STDOUT_FILENO) == 1);
  if (!checked) return fail_with(checked.error());
  if (options.by.size() > kMaxBy) return fail_with(kBadUse, "--by: want two fields at most");
  if (!options.function.empty()) return latency_of_function(options);
  if (options.from.empty()) return fail_with(kBadUse, "--from is required, or --function");
  if (options.to.empty()) return fail_with(kBadUse, "--to is required");
  if (options.key.empty()) return fail_with(kBadUse, "--key is required");
  for (const auto& [option, event] : {std::pair("--from", &options.from), std::pair("--to", &options.to)}) {
    if (auto one = check_event_name(option, *event); !one) return fail_with(kBadUse, sentence(one.error()));
  }
  measure::LatencySink::Request request = request_of(options);
  if (request.from_key.size() != request.to_key.size()) {
    return fail_with(kBadUse, "--to-key: want as many fields as --key has");
  }
  const auto ring_bytes = parse_buffer_size(options.buffer_size);
  if (!ring_bytes) return fail_with(kBadUse, sentence(ring_bytes.error()));
  WatchedPairs pairs(options, std::move(request));
  const HistShape shape{options.from + " -> " + options.to, options.by, {}, kLatencyField, true};
  return Watch(options, shape, pairs, *ring_bytes).run();
}

}  // namespace

void add_latency(Program& program) {
  auto options = std::make_shared<LatencyOptions>();
  Command& command =
      program.add("latency", "Measure the time between two events, or from a function's entry to its return");
  command.option("--function", options->function, "The function whose calls are measured, instead of two events",
                 {.type = "'OBJECT:FUNCTION [NAME=FETCH]...'"});
  command.option("--from", options->from, "The event that begins it", {.type = "EVENT"});
  command.option("--to", options->to, "The event that ends it", {.type = "EVENT"});
  command.list("--key", options->key, "Fields that say which two belong together", {.type = "FIELD,..."});
  command.list("--to-key", options->to_key, "The same in the second event, if they are called otherwise there",
               {.type = "FIELD,..."});
  command.list("--by", options->by, "Fields of the second event to group by; of a function also $arg1, $retval …",
               {.type = "FIELD,..."});
  command.option("--buffer-size", options->buffer_size, "Buffer per CPU, with K, M or G",
                 {.type = "SIZE", .shows_default = true});
  add_watch_options(command, *options);
  command.takes_command(options->command,
                        "landtrace latency [OPTIONS] --from EVENT --to EVENT --key FIELD [--] [CMD [ARG...]]\n"
                        "Usage: landtrace latency [OPTIONS] --function FUNCTION [--] [CMD [ARG...]]");
  command.examples(
      "Examples:\n"
      "  landtrace latency --from req_start --to req_done --key id                in the user's domain, until ^C\n"
      "  landtrace latency --from req_start --to req_done --key id --by route -- ./server\n"
      "  landtrace latency --function server:handle_request --by '$retval:s32' -- ./server\n"
      "  landtrace latency --from sent --to received --key seq --to-key number --json --duration 10");
  command.runs([options] { return latency(*options); });
}

}  // namespace landtrace::cli
