#include "cli/fleet/past.hpp"

#include <unistd.h>

#include <array>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/failure.hpp"
#include "cli/fleet/past_text.hpp"
#include "cli/terminal.hpp"
#include "cli/text_output.hpp"
#include "event/pattern.hpp"
#include "fleet/where.hpp"

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kOneSecond_ns = 1'000'000'000;

int past_failure(const Error& error) { return fail_with(error.code == EINVAL ? kBadUse : kFailure, sentence(error)); }

// With the parts that the format has of it; the others are those of `now_s`.
std::optional<std::uint64_t> local_moment(const std::string& text, const char* format, std::uint64_t now_s) {
  const auto now = static_cast<std::time_t>(now_s);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  const char* const end = ::strptime(text.c_str(), format, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  parts.tm_isdst = -1;
  const std::time_t time = std::mktime(&parts);
  if (time < 0) return std::nullopt;
  return static_cast<std::uint64_t>(time) * kOneSecond_ns;
}

std::string wanted_event(const FleetOptions& options) {
  if (options.words[0] == "hist") return options.words.size() == 2 ? options.words[1] : "";
  return options.from.empty() || options.to.empty()
             ? ""
             : full_event_name(options.from) + " -> " + full_event_name(options.to);
}

bool is_wanted(const FleetOptions& options, const fleet::Frame& frame) {
  std::vector<std::string> keys;
  for (const ipc::HistogramKey& key : frame.table.keys) keys.push_back(without_modifier(key.name));
  const bool is_latency = fleet::is_of_latency(frame);
  const std::vector<std::string>& wanted = options.words[0] == "hist" ? options.keys : options.by;
  if (keys.size() < wanted.size() || is_latency != (options.words[0] == "latency")) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (keys[i] != without_modifier(wanted[i])) return false;
  }
  if (is_latency) return frame.event == wanted_event(options);
  const auto pattern = event::Pattern::parse(wanted_event(options));
  const std::size_t colon = frame.event.find(':');
  return pattern && colon != std::string::npos &&
         pattern->matches(frame.event.substr(0, colon), frame.event.substr(colon + 1));
}

fleet::HistoryQuestion question_of(const FleetOptions& options, const std::string& order, const fleet::Period& period) {
  fleet::HistoryQuestion question;
  question.order = order;
  question.period = period;
  question.where = options.where;
  question.per = options.per;
  return question;
}

struct Counted {
  std::string order;
  std::uint64_t hosts = 0;
  std::uint64_t newest_ns = 0;
};

// Those that counted this.
std::vector<Counted> orders_of(const FleetOptions& options, const fleet::History& history) {
  std::map<std::string, Counted> orders;
  for (const fleet::Frame& frame : history.frames) {
    if (!is_wanted(options, frame)) continue;
    Counted& order = orders[frame.order];
    order.order = frame.order;
    order.hosts = std::max<std::uint64_t>(order.hosts, std::strtoull(frame.host.c_str(), nullptr, 10));
    order.newest_ns = std::max(order.newest_ns, std::min(frame.time_ns, fleet::wall_ns()));
  }
  std::vector<Counted> all;
  for (auto& [name, order] : orders) all.push_back(std::move(order));
  return all;
}

// Of the orders that counted this, the one that did so last: to add them up would count events twice. But any host may
// say that it has counted something for any order, at any time: as many as half of those of the largest have to.
Result<std::string> find_order(const FleetHelper& fleet, const FleetOptions& options, const fleet::Period& period) {
  const std::string event = wanted_event(options);
  if (event.empty()) {
    return fail(EINVAL, options.words[0] == "hist" ? "want: landtrace fleet hist EVENT --last TIME"
                                                   : "want: landtrace fleet latency --from A --to B --last TIME");
  }
  fleet::HistoryQuestion question = question_of(options, "", period);
  question.period.every_ns = 0;
  question.per = {};
  question.where = "";
  LT_TRY(const fleet::History history, fleet.history(question));
  const std::vector<Counted> orders = orders_of(options, history);
  if (orders.empty()) {
    return fail(ENOENT, "nobody has counted " + event + " so in that time: see landtrace fleet history");
  }
  const std::uint64_t most = std::ranges::max(orders, {}, &Counted::hosts).hosts;
  const auto last = std::ranges::max_element(orders, {}, [&](const Counted& one) {
    return std::tuple(one.hosts >= most - most / 2, one.newest_ns, one.hosts);
  });
  if (orders.size() > 1) {
    complain(
        fmt::format("{} orders counted this in that time; this is {}, the last one of those of many hosts (landtrace "
                    "fleet history)",
                    orders.size(), last->order));
  }
  return last->order;
}

int print_past(const std::string& text) {
  TextOutput out;
  out.text() += text;
  out.flush();
  return out.status();
}

int list(const FleetHelper& fleet, const FleetOptions& options, const fleet::Period& period) {
  if (options.words.size() != 1) return fail_with(kBadUse, "history takes no more words: see show ORDER");
  fleet::HistoryQuestion question = question_of(options, "", period);
  question.period.every_ns = 0;
  const auto history = fleet.history(question);
  if (!history) return past_failure(history.error());
  for (const std::string& note : past_notes(*history, period.from_ns)) complain(note);
  if (history->frames.empty() && !options.json) return fail_with(kFailure, "nothing was counted in that time");
  if (!options.json) return print_past(orders_of_past_text(*history));
  const auto json = past_json(*history);
  return json ? print_past(*json) : past_failure(json.error());
}

}  // namespace

bool is_of_past(const FleetOptions& options) {
  return options.words[0] == "history" || !options.last.empty() || !options.since.empty() || !options.until.empty() ||
         !options.every.empty();
}

Result<std::uint64_t> parse_moment(const std::string& option, const std::string& text, std::uint64_t now_ns) {
  if (const auto ago = parse_duration(option, text)) return now_ns - std::min(now_ns, *ago);
  const std::uint64_t now_s = now_ns / kOneSecond_ns;
  for (const char* const format :
       {"%H:%M", "%H:%M:%S", "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"}) {
    if (const auto moment = local_moment(text, format, now_s)) return *moment;
  }
  if (text.starts_with('@')) {
    const auto since_1970 = local_moment(text.substr(1), "%s", now_s);
    if (since_1970) return *since_1970;
  }
  return fail(EINVAL, option + ": want a time as 10:30, '2026-11-24 10:30', 2h (ago) or @SECONDS, not '" + text + "'");
}

Result<fleet::Period> period_of(const FleetOptions& options, std::uint64_t now_ns) {
  fleet::Period period{1, now_ns, 0, options.until.empty()};
  if (!options.last.empty() && !(options.since.empty() && options.until.empty())) {
    return fail(EINVAL, "--last is there in place of --since and --until");
  }
  if (!options.last.empty()) {
    LT_TRY(const std::uint64_t last_ns, parse_duration("--last", options.last));
    period.from_ns = now_ns - std::min(now_ns - 1, last_ns);
  }
  if (!options.since.empty()) {
    LT_TRY(period.from_ns, parse_moment("--since", options.since, now_ns));
  }
  if (!options.until.empty()) {
    LT_TRY(period.until_ns, parse_moment("--until", options.until, now_ns));
  }
  if (!options.every.empty()) {
    LT_TRY(period.every_ns, parse_duration("--every", options.every));
    if (period.from_ns == 1) return fail(EINVAL, "--every: want --last or --since, too");
    // Parts begin with whole ones of their kind: 10:30:00, 10:31:00.
    period.from_ns -= period.from_ns % period.every_ns;
  }
  LT_CHECK(period.check());
  return period;
}

int run_past(const FleetHelper& fleet, const FleetOptions& options) {
  const auto period = period_of(options, fleet::wall_ns());
  if (!period) return past_failure(period.error());
  if (auto where = fleet::Where::parse(options.where); !where) return past_failure(where.error());
  const std::string& what = options.words[0];
  if (what == "history") return list(fleet, options, *period);
  if (what != "show" && what != "hist" && what != "latency") {
    return fail_with(kBadUse, "--last, --since, --until and --every are for history, show, hist and latency");
  }
  if (what == "show" && options.words.size() != 2) return fail_with(kBadUse, "want: landtrace fleet show ORDER");
  const auto order = what == "show" ? Result<std::string>(options.words[1]) : find_order(fleet, options, *period);
  if (!order) return past_failure(order.error());
  const auto history = fleet.history(question_of(options, *order, *period));
  if (!history) return past_failure(history.error());
  for (const std::string& note : past_notes(*history, period->from_ns)) complain(note);
  if (history->frames.empty()) {
    return fail_with(kFailure, "nothing was counted for an order '" + *order + "' in that time");
  }
  const auto text = options.json ? past_json(*history) : past_text(*history, Screen::of(STDOUT_FILENO).columns);
  return text ? print_past(*text) : past_failure(text.error());
}

}  // namespace landtrace::cli
