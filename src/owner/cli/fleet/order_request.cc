#include "cli/fleet/order_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <unistd.h>

#include <charconv>

#include "cli/event_rules.hpp"
#include "cli/probes/probe_text.hpp"
#include "event/pattern.hpp"
#include "fleet/where.hpp"

namespace landtrace::cli {
namespace {

using fleet::Order;

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kLongest_s = 30 * 24 * 3600;
constexpr std::uint64_t kWatchedInterval_ms = 1000;

std::string new_id() {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  unsigned char random[8] = {};
  std::ignore = ::getrandom(random, sizeof random, 0);
  std::string id;
  for (const unsigned char byte : random) id += kLetters[byte % kLetters.size()];
  return id;
}

std::string user_text() {
  char host[256] = {};
  std::ignore = ::gethostname(host, sizeof host - 1);
  const char* const user = std::getenv("USER");
  return std::string(user == nullptr ? std::to_string(::geteuid()) : user) + "@" + host;
}

Result<void> want_words(const FleetOptions& options, std::size_t count, const char* usage) {
  if (options.words.size() == count) return {};
  return fail(EINVAL, std::string("want: landtrace fleet ") + usage);
}

// The pattern, its filter and triggers can be some event's.
Result<void> check_rules(const Order& order) {
  LT_CHECK(event::Pattern::parse(order.event));
  return check_event_rules({{.pattern = order.event, .filter = order.filter, .triggers = order.triggers}});
}

// What it is about: the word behind what is to be done, or a probe.
Result<void> fill_event(const FleetOptions& options, std::size_t words, const std::string& usage, Order& order) {
  if (options.probe.empty()) {
    LT_CHECK(want_words(options, words, (usage + ", or -p PROBE in place of the event").c_str()));
    order.event = options.words[1];
    return {};
  }
  if (options.words.size() + 1 != words) return fail(EINVAL, "-p is there in place of an event");
  LT_TRY(const ProbeText probe, parse_probe("-p", options.probe));
  if (probe.object.empty()) return fail(EINVAL, "-p: want OBJECT:FUNCTION, as each host has it");
  const std::string name = probe.is_pattern() && probe.name.empty() ? "*" : probe.event_name();
  order.probe = {probe.object, probe.place_in_object(), probe.is_return, probe.arguments, name};
  order.event = fleet::probe_group(order.id) + ":" + name;
  return {};
}

// `probe PROBE` is `enable -p PROBE`.
Result<void> fill_probe(const FleetOptions& options, Order& order) {
  FleetOptions enable = options;
  const bool has_word = options.words.size() == 2 && options.probe.empty();
  if (!has_word && (options.words.size() != 1 || options.probe.empty())) {
    return fail(EINVAL, "want: landtrace fleet probe 'OBJECT:FUNCTION [NAME=FETCH]...'");
  }
  if (has_word) enable.probe = options.words[1];
  enable.words = {"enable"};
  return fill_event(enable, 2, "enable EVENT", order);
}

HistOptions hist_options(const FleetOptions& options) {
  HistOptions hist;
  hist.event = options.words.size() > 1 ? options.words[1] : "";
  hist.keys = options.keys;
  hist.vals = options.vals;
  return hist;
}

Result<void> fill_events(const FleetOptions& options, Order& order) {
  const std::string& what = options.words[0];
  order.kind = Order::Kind::kEnable;
  order.filter = options.filter;
  order.triggers = options.triggers;
  if (what == "tail") order.kind = Order::Kind::kTail;
  if (what == "probe") {
    LT_CHECK(fill_probe(options, order));
  } else if (what == "enable" || what == "tail") {
    LT_CHECK(fill_event(options, 2, what + " EVENT", order));
  } else if (what == "filter") {
    LT_CHECK(fill_event(options, 3, "filter EVENT EXPR", order));
    order.filter = options.words.back();
  } else {
    LT_CHECK(fill_event(options, 3, "trigger EVENT TRIGGER", order));
    order.triggers.push_back(options.words.back());
  }
  return check_rules(order);
}

Result<void> fill_snapshot(const FleetOptions& options, Order& order) {
  LT_CHECK(want_words(options, 1, "snapshot [-e EVENT]... [-o FILE]"));
  order.kind = Order::Kind::kSnapshot;
  order.event = fmt::format("{}", fmt::join(options.events, ","));
  LT_CHECK(fleet::patterns_of(order.event));
  return {};
}

Result<void> fill_hist(const FleetOptions& options, Order& order) {
  LT_CHECK(fill_event(options, 2, "hist EVENT --keys FIELD,...", order));
  order.kind = Order::Kind::kHist;
  const HistOptions hist = hist_options(options);
  LT_TRY(const HistShape shape, shape_of(hist));
  order.triggers = {trigger_of(hist, shape)};
  if (!options.filter.empty()) order.triggers[0] += " if " + options.filter;
  return check_rules(order);
}

Result<void> fill_latency(const FleetOptions& options, Order& order) {
  LT_CHECK(want_words(options, 1, "latency --from EVENT --to EVENT --key FIELD"));
  order.kind = Order::Kind::kLatency;
  for (const auto& [option, event] : {std::pair("--from", &options.from), std::pair("--to", &options.to)}) {
    if (event->empty()) return fail(EINVAL, std::string(option) + " is required");
    LT_CHECK(check_event_name(option, *event));
  }
  if (options.key.empty()) return fail(EINVAL, "--key is required");
  if (!options.to_key.empty() && options.to_key.size() != options.key.size()) {
    return fail(EINVAL, "--to-key: want as many fields as --key has");
  }
  order.event = full_event_name(options.from);
  order.to = full_event_name(options.to);
  order.key = options.key;
  order.to_key = options.to_key;
  order.by = options.by;
  order.stack = options.stack;
  order.filter = options.filter;
  return check_rules(order);
}

}  // namespace

Result<std::uint64_t> parse_duration(const std::string& option, const std::string& text) {
  constexpr std::pair<char, std::uint64_t> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  std::uint64_t number = 0, unit = 1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  bool is_good = error == std::errc() && end - rest <= 1;
  if (is_good && rest != end) {
    is_good = false;
    for (const auto& [letter, seconds] : kUnits) {
      if (*rest != letter) continue;
      unit = seconds;
      is_good = true;
    }
  }
  if (!is_good || number == 0 || number > kLongest_s / unit) {
    return fail(EINVAL, option + ": want a time as 30s, 10m, 2h or 1d, of 30 days at most, not '" + text + "'");
  }
  return number * unit * kNsPerSecond;
}

namespace {

// What would be passed over in silence.
Result<void> check_fits(const FleetOptions& options) {
  const std::string& what = options.words[0];
  if (options.stack && what != "latency") return fail(EINVAL, "--stack is for latency");
  if (options.live && what != "latency" && what != "hist") return fail(EINVAL, "--live is for hist and latency");
  if (options.live && options.detach) return fail(EINVAL, "--live excludes --detach");
  return {};
}

}  // namespace

Result<Order> order_of(const FleetOptions& options) {
  const std::string& what = options.words[0];
  Order order;
  LT_CHECK(check_fits(options));
  LT_CHECK(fleet::Where::parse(options.where));
  LT_TRY(const std::uint64_t lasts_ns, parse_duration("--for", options.lasts));
  order.id = new_id();
  order.where = options.where;
  LT_CHECK(what == "hist"       ? fill_hist(options, order)
           : what == "latency"  ? fill_latency(options, order)
           : what == "snapshot" ? fill_snapshot(options, order)
                                : fill_events(options, order));
  order.made_ns = fleet::wall_ns();
  order.until_ns = order.made_ns + lasts_ns;
  order.interval_ms = options.detach || order.kind == Order::Kind::kEnable ? 0 : kWatchedInterval_ms;
  if (!options.interval.empty()) {
    LT_TRY(const std::uint64_t interval_ns, parse_duration("--interval", options.interval));
    order.interval_ms = interval_ns / 1'000'000;
  }
  order.by_whom = user_text();
  return order;
}

HistShape shape_of(const Order& order, const ipc::HistogramTable& table) {
  HistShape shape;
  for (const ipc::HistogramKey& key : table.keys) shape.keys.push_back(without_modifier(key.name));
  for (const ipc::HistogramValue& value : table.values) shape.sums.push_back(value.name);
  const bool has_spread =
      !table.keys.empty() && !table.values.empty() && shape.keys.back() == without_modifier(table.values.back().name) &&
      (table.keys.back().kind == ipc::KeyKind::kSteps || table.keys.back().kind == ipc::KeyKind::kLog2);
  if (!has_spread) return shape;
  shape.spread = shape.keys.back();
  shape.is_time = order.kind == Order::Kind::kLatency || shape.spread->ends_with("_ns");
  shape.keys.pop_back();
  shape.sums.pop_back();
  return shape;
}

}  // namespace landtrace::cli
