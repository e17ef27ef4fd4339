// `landtrace latency`
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "buffer/event_table.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/histogram/latency_request.hpp"
#include "cli/histogram/watch.hpp"
#include "ipc/tree_client.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMaxBy = 2;

std::optional<output::EventType> find_event(const plan::ControlSegment& control, const std::string& name) {
  // Pairs with the release store in Events::take_slot().
  const std::uint32_t high = std::min(__atomic_load_n(&control.event_high, __ATOMIC_ACQUIRE), plan::kMaxEvents);
  for (std::uint32_t slot = 0; slot < high; ++slot) {
    // Pairs with the publish() in Events::describe().
    if (__atomic_load_n(&control.events[slot].registered, __ATOMIC_ACQUIRE) == 0) continue;
    const auto text = buffer::copy_slot_text(control, slot);
    if (!text) continue;
    auto type = buffer::type_of(*text);
    if (type && type->system + ":" + type->name == name) return *std::move(type);
  }
  return std::nullopt;
}

// The pair of events while it is watched. The second is set up once it has registered, because the synthetic event
// takes fields of it.
class Latency {
 public:
  explicit Latency(const LatencyOptions& options)
      : options_(options),
        from_(full_event_name(options.from)),
        to_(full_event_name(options.to)),
        name_(fmt::format("latency_{}", ::getpid())) {}
  ~Latency() {
    if (is_set_up_) std::ignore = write_definition("!" + name_);
  }
  Latency(const Latency&) = delete;
  Latency& operator=(const Latency&) = delete;

  [[nodiscard]] std::string event() const { return "synthetic:" + name_; }

  Result<void> begin(Workplace& place, consumer::Session& session) {
    socket_ = place.socket();
    return session.select({.pattern = from_, .triggers = {start_trigger(options_)}});
  }

  Result<void> go_on(Workplace& place, consumer::Session& session) {
    if (is_set_up_) return {};
    const auto to = find_event(place.view().control(), to_);
    if (!to || !find_event(place.view().control(), from_)) return {};
    LT_TRY(const std::string definition, definition_of(options_, name_, *to));
    LT_CHECK(write_definition(definition));
    is_set_up_ = true;
    LT_CHECK(session.select({.pattern = event(), .triggers = {spread_trigger(options_)}}));
    return session.select({.pattern = to_, .triggers = {end_trigger(options_, name_)}});
  }

 private:
  Result<void> write_definition(const std::string& text) {
    LT_TRY(ipc::TreeClient tree, ipc::TreeClient::connect(socket_));
    LT_CHECK(tree.open("synthetic_events", O_WRONLY | O_APPEND));
    return tree.write(text);
  }

  const LatencyOptions& options_;
  std::string from_;
  std::string to_;
  std::string name_;  // of the event that is the difference
  std::string socket_;
  bool is_set_up_ = false;
};

int latency(LatencyOptions& options) {
  auto checked = check_watch_options(options, ::isatty(STDOUT_FILENO) == 1);
  if (!checked) return fail_with(kBadUse, sentence(checked.error()));
  if (options.by.size() > kMaxBy) return fail_with(kBadUse, "--by: want two fields at most");
  Latency pair(options);
  const HistShape shape{options.from + " -> " + options.to, options.by, {}, kLatencyField, true};
  return Watch(options, shape, pair.event())
      .run([&](Workplace& place, consumer::Session& session) { return pair.begin(place, session); },
           [&](Workplace& place, consumer::Session& session) { return pair.go_on(place, session); });
}

}  // namespace

void add_latency(Program& program) {
  auto options = std::make_shared<LatencyOptions>();
  Command& command = program.add("latency", "Measure the time between two events, also of different programs");
  command.option("--from", options->from, "The event that begins it", {.type = "EVENT", .required = true});
  command.option("--to", options->to, "The event that ends it", {.type = "EVENT", .required = true});
  command.option("--key", options->key, "Fields that say which two belong together",
                 {.type = "FIELD", .required = true});
  command.option("--to-key", options->to_key, "The same in the second event, if they are called otherwise there",
                 {.type = "FIELD"});
  command.list("--by", options->by, "Fields of the second event to group by", {.type = "FIELD,..."});
  add_watch_options(command, *options);
  command.takes_command(options->command,
                        "landtrace latency [OPTIONS] --from EVENT --to EVENT --key FIELD [--] [CMD [ARG...]]");
  command.examples(
      "Examples:\n"
      "  landtrace latency --from req_start --to req_done --key id                in the user's domain, until ^C\n"
      "  landtrace latency --from req_start --to req_done --key id --by route -- ./server\n"
      "  landtrace latency --from sent --to received --key seq --to-key number --json --duration 10");
  command.runs([options] { return latency(*options); });
}

}  // namespace landtrace::cli
