// `landtrace hist`
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/histogram/watch.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  landtrace hist req_done --keys status -- ./server           how many of each status\n"
    "  landtrace hist req_done --keys route --vals bytes           … and how many bytes, in the user's domain, until "
    "^C\n"
    "  landtrace hist req_done --keys route --vals latency_ns.log2 how a value is spread, by route\n"
    "  landtrace hist job --keys common_pid.execname,kind --filter 'n > 5' --json --duration 10";

constexpr std::size_t kMaxKeys = 3;
constexpr std::string_view kSpread = ".log2";

struct HistOptions : WatchOptions {
  std::string event;
  std::vector<std::string> keys;
  std::vector<std::string> vals;
};

// What the file calls a key.
std::string printed_name(const std::string& key) {
  const std::string name = without_modifier(key);
  return name == "stacktrace" ? "common_stacktrace" : name;
}

Result<HistShape> shape_of(const HistOptions& options) {
  HistShape shape;
  shape.title = options.event;
  for (const std::string& key : options.keys) shape.keys.push_back(printed_name(key));
  for (const std::string& value : options.vals) {
    if (!value.ends_with(kSpread)) {
      shape.sums.push_back(value);
    } else if (shape.spread) {
      return fail(EINVAL, "--vals: one value can have .log2");
    } else {
      shape.spread = without_modifier(value);
      shape.is_time = shape.spread->ends_with("_ns");
    }
  }
  if (shape.keys.size() + (shape.spread ? 1 : 0) > kMaxKeys) {
    return fail(EINVAL, "a histogram has three keys at most, of which a .log2 value is one");
  }
  if (shape.keys.empty() && !shape.spread) return fail(EINVAL, "want --keys, or --vals with a .log2");
  return shape;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string trigger_of(const HistOptions& options, const HistShape& shape) {
  std::vector<std::string> keys = options.keys;
  std::vector<std::string> values = shape.sums;
  if (shape.spread) {
    keys.push_back(*shape.spread + std::string(kSpread));
    values.push_back(*shape.spread);
  }
  return "hist:keys=" + joined(keys) + (values.empty() ? "" : ":vals=" + joined(values)) + trigger_end(options);
}

int hist(HistOptions& options) {
  auto checked = check_watch_options(options);
  if (!checked) return fail_with(kBadUse, sentence(checked.error()));
  const auto shape = shape_of(options);
  if (!shape) return fail_with(kBadUse, sentence(shape.error()));
  const std::string event = full_event_name(options.event);
  const std::string trigger = trigger_of(options, *shape);
  return Watch(options, *shape, event).run([&](Workplace&, consumer::Session& session) {
    return session.select({.pattern = event, .triggers = {trigger}});
  });
}

}  // namespace

void add_hist(Program& program) {
  auto options = std::make_shared<HistOptions>();
  Command& command = program.add("hist", "Count an event's occurrences by what its fields say");
  command.option("EVENT", options->event, "SYSTEM:EVENT, or the name of a user event", {.required = true});
  command.list("--keys", options->keys, "Fields to group by, up to three", {.type = "FIELD,..."});
  command.list("--vals", options->vals, "Fields to add up; with .log2: how the values are spread",
               {.type = "FIELD,..."});
  add_watch_options(command, *options);
  command.takes_command(options->command, "landtrace hist [OPTIONS] EVENT [--] [CMD [ARG...]]");
  command.examples(kExamples);
  command.runs([options] { return hist(*options); });
}

}  // namespace landtrace::cli
