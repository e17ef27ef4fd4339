// `landtrace hist`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/histogram/hist_request.hpp"
#include "cli/histogram/watch.hpp"
#include "cli/probes/parameters.hpp"
#include "cli/probes/probe_set.hpp"
#include "cli/probes/probed_object.hpp"
#include "cli/usdt/choice.hpp"

namespace landtrace::cli {
namespace {

// The session records nothing, so its rings are the smallest that it can have.
constexpr std::uint64_t kSmallestRings = 64 * 1024;

// A histogram of the session, which programs fill.
class WatchedHistogram : public Watched {
 public:
  WatchedHistogram(const HistOptions& options, const std::optional<ProbeText>& probe, const HistShape& shape)
      : options_(options), probe_(probe), trigger_(trigger_of(options, shape)) {
    if (!probe_) event_ = full_event_name(options.event);
  }

  Result<void> begin(Workplace& place, consumer::Session& session) override {
    session_ = &session;
    if (probe_) {
      LT_TRY(ProbeSet probes, ProbeSet::connect(place.socket(), options_.programs.as_command(options_.command)));
      probes_.emplace(std::move(probes));
      options_.programs.find_object(*probe_);
      LT_CHECK(define());
    }
    LT_CHECK(session.record(false));
    return session.select({.pattern = event_, .triggers = {trigger_}});
  }

  Result<HistView> view(const HistShape& shape) override {
    const auto tables = session_->histograms(event_);
    // The event has not registered yet, or is gone: shown as an empty histogram.
    if (!tables && tables.error().code == ENOENT) return HistView();
    if (!tables) return tl::unexpected<Error>(tables.error());
    return tables->empty() ? HistView() : make_view(shape, tables->front());
  }

  void leave() override { probes_.reset(); }

  [[nodiscard]] std::vector<std::string> named() const override { return {event_}; }
  [[nodiscard]] std::vector<std::string> probes() const override {
    return probes_ ? std::vector<std::string>{event_} : std::vector<std::string>();
  }
  [[nodiscard]] Result<void> fits(const output::EventType& type) const override { return check_fits(options_, type); }

 private:
  Result<void> define() {
    std::vector<std::string> fields = options_.keys;
    fields.insert(fields.end(), options_.vals.begin(), options_.vals.end());
    const std::vector<std::string> added = add_parameters(*probe_, fields);
    auto event = probes_->define(*probe_);
    if (!event && added.empty()) return tl::unexpected<Error>(event.error());
    if (!event) return no_such_parameters(options_.keys.empty() ? "--vals" : "--keys", *probe_, added, event.error());
    event_ = *std::move(event);
    return {};
  }

  const HistOptions& options_;
  std::optional<ProbeText> probe_;
  std::optional<ProbeSet> probes_;
  std::string event_;
  std::string trigger_;
  consumer::Session* session_ = nullptr;
};

// A histogram is one event's.
Result<std::optional<ProbeText>> one_usdt(const ProbeText& text, const HistOptions& options) {
  LT_TRY(const std::vector<ProbeText> probes, usdt_probes(text, options.command, options.programs.pids()));
  if (probes.size() == 1) return std::optional(probes.front());
  return fail(EINVAL, fmt::format("{}: {}: {} USDT places have such a name, as {}:{} and {}:{}; want one", text.option,
                                  text.place, probes.size(), probes[0].provider, probes[0].function, probes[1].provider,
                                  probes[1].function));
}

// Of -p, or of an EVENT that is OBJECT:FUNCTION. Without dots and slashes that is an event's name, too: then it is a
// function if there is one.
Result<std::optional<ProbeText>> find_probe(HistOptions& options) {
  if (!options.probe.empty()) {
    // There is no EVENT, so CMD began there.
    if (!options.event.empty()) options.command.insert(options.command.begin(), std::exchange(options.event, ""));
    LT_TRY(const ProbeText probe, parse_probe("--probe", options.probe));
    options.event = probe.place;
    if (probe.is_usdt) return one_usdt(probe, options);
    return std::optional(probe);
  }
  if (options.event.find(':') == std::string::npos) return std::optional<ProbeText>();
  const auto probe = parse_probe("EVENT", options.event);
  if (is_usdt_text(options.event)) {
    if (!probe) return tl::unexpected<Error>(probe.error());
    return one_usdt(*probe, options);
  }
  if (!probe || probe->object.empty()) return std::optional<ProbeText>();
  if (!is_surely_object(*probe) && !has_probed_function(*probe, options.programs.as_command(options.command)))
    return std::optional<ProbeText>();
  options.event = probe->place;
  return std::optional(*probe);
}

int hist(HistOptions& options) {
  const auto probe = find_probe(options);
  if (!probe) return fail_with(probe.error().code == ENOENT ? kFailure : kBadUse, sentence(probe.error()));
  auto checked = check_watch_options(options, ::isatty(STDOUT_FILENO) == 1);
  if (!checked) return fail_with(checked.error());
  if (!*probe) {
    if (auto one = check_event_name("EVENT", options.event); !one) return fail_with(kBadUse, sentence(one.error()));
  }
  const auto shape = shape_of(options);
  if (!shape) return fail_with(kBadUse, sentence(shape.error()));
  WatchedHistogram histogram(options, *probe, *shape);
  return Watch(options, *shape, histogram, kSmallestRings).run();
}

}  // namespace

void add_hist(Program& program) {
  auto options = std::make_shared<HistOptions>();
  Command& command = program.add("hist", "Count an event's occurrences by what its fields say");
  command.option("EVENT", options->event, "SYSTEM:EVENT, the name of a user event, or OBJECT:FUNCTION",
                 {.required_unless = "-p,--probe"});
  command.option("-p,--probe", options->probe, "Instead of EVENT: calls of a function, with %return its returns",
                 {.type = "'OBJECT:FUNCTION[%return] [NAME=FETCH]...'"});
  command.list("--keys", options->keys, "Fields to group by, up to three", {.type = "FIELD,..."});
  command.list("--vals", options->vals, "Fields to add up; with .log2: how the values are spread",
               {.type = "FIELD,..."});
  add_watch_options(command, *options);
  command.takes_command(options->command, "landtrace hist [OPTIONS] EVENT [--] [CMD [ARG...]]");
  command.examples(
      "Examples:\n"
      "  landtrace hist req_done --keys status -- ./server           how many of each status\n"
      "  landtrace hist req_done --keys route --vals bytes           … and how many bytes, in the user's domain, until "
      "^C\n"
      "  landtrace hist req_done --keys route --vals latency_ns.log2 how a value is spread, by route\n"
      "  landtrace hist -p 'libc.so.6:malloc size=$arg1' --vals size.log2 -- ./server\n"
      "  landtrace hist job --keys common_pid.execname,kind --filter 'n > 5' --json --duration 10");
  command.runs([options] { return hist(*options); });
}

}  // namespace landtrace::cli
