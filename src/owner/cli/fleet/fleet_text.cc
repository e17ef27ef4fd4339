#include "cli/fleet/fleet_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/fleet/order_request.hpp"
#include "cli/missing_events.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"
#include "fleet/where.hpp"

namespace landtrace::cli {
namespace {

using fleet::Order;
using fleet::OrderState;
using fleet::Status;

using Row = std::vector<std::string>;

std::string age_text(std::uint64_t ns) {
  const std::uint64_t seconds = ns / 1'000'000'000;
  if (seconds < 120) return fmt::format("{} s", seconds);
  return seconds < 7200 ? fmt::format("{} min", seconds / 60) : fmt::format("{} h", seconds / 3600);
}

std::uint64_t since(std::uint64_t then_ns, std::uint64_t now_ns) { return now_ns > then_ns ? now_ns - then_ns : 0; }

std::string state_text(const Status& host, std::uint64_t now_ns) {
  return host.is_away(now_ns) ? "away " + age_text(since(host.time_ns, now_ns)) : "here";
}

std::uint64_t orders_in(const Status& host, OrderState::Now now) {
  return static_cast<std::uint64_t>(std::ranges::count(host.orders, now, &OrderState::now));
}

std::string what_text(const Order& order) {
  std::string text = fleet::about(order);
  if (!order.to.empty()) text += " -> " + order.to;
  for (const std::string& trigger : order.triggers) text += " '" + trigger + "'";
  if (!order.filter.empty()) text += " if " + order.filter;
  return text;
}

void add_refusals(Reports& reports, const Status& host, const OrderState& state) {
  for (const fleet::Refusal& refusal : state.refusals) {
    reports.refusals.push_back(host.host + ": " + (refusal.event.empty() ? "" : refusal.event + ": ") +
                               refusal.reason);
  }
}

}  // namespace

std::string table_text(std::vector<Row> rows) {
  std::vector<std::size_t> widths;
  for (Row& row : rows) {
    for (std::string& text : row) text = visible(text, Lines::kNone);
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string hosts_text(const std::vector<Status>& hosts, std::uint64_t now_ns) {
  std::vector<Row> rows{
      {"HOST", "DOMAIN", "STATE", "VERSION", "USERS", "EVENTS", "ENABLED", "LOST", "ORDERS", "REFUSED", "LABELS"}};
  std::string unsent;
  for (const Status& host : hosts) {
    rows.push_back({host.host, host.domain, state_text(host, now_ns), host.version, count_text(host.users),
                    count_text(host.events), count_text(host.enabled), count_text(host.lost),
                    count_text(orders_in(host, OrderState::Now::kApplied)),
                    count_text(orders_in(host, OrderState::Now::kRefused)), fleet::text_of(host.labels)});
    if (host.unsent > 0) {
      const std::string name = visible(host.host, Lines::kNone);
      unsent += fmt::format("{}: {} frames were never sent\n", name, count_text(host.unsent));
    }
  }
  return table_text(std::move(rows)) + unsent;
}

std::string hosts_json(const std::vector<Status>& hosts, std::uint64_t now_ns) {
  auto all = nlohmann::json::array();
  for (const Status& host : hosts) {
    auto json = nlohmann::json::parse(fleet::json_of(host), nullptr, false);
    json["away"] = host.is_away(now_ns);
    all.push_back(std::move(json));
  }
  return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string orders_text(const std::vector<Order>& orders, const std::vector<Status>& hosts, std::uint64_t now_ns) {
  std::vector<Row> rows{{"ORDER", "ENDS IN", "HOSTS", "REFUSED", "WHERE", "BY", "WHAT"}};
  for (const Order& order : orders) {
    const Reports reports = reports_of(order, hosts, now_ns);
    const std::string ends = order.until_ns == 0            ? "-"
                             : order.has_ended(now_ns) ? "has ended"
                                                            : age_text(order.until_ns - now_ns);
    rows.push_back({order.id, ends, count_text(reports.hosts()), count_text(reports.refused),
                    order.where.empty() ? "-" : order.where, order.by_whom, what_text(order)});
  }
  return table_text(std::move(rows));
}

std::string refused_text(const std::string& what, const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  if (names.empty()) return "";
  const std::vector<std::string> some(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(
                                                                         std::min(names.size(), kMostNames)));
  return fmt::format("{} {} and {} left out: {}{}", names.size(),
                     names.size() == 1 ? what + " makes no sense" : what + "s make no sense",
                     names.size() == 1 ? "is" : "are", fmt::join(some, ", "),
                     names.size() > kMostNames ? ", …" : "");
}

Reports reports_of(const Order& order, const std::vector<Status>& hosts, std::uint64_t now_ns) {
  Reports reports;
  if (!order.probe.object.empty()) reports.probe = {fleet::probe_group(order.id) + ":", fleet::about(order)};
  std::map<std::string, std::uint64_t> missing;  // at how many hosts
  const fleet::Where where = fleet::Where::parse(order.where).value_or(fleet::Where());
  for (const Status& host : hosts) {
    const auto state = std::ranges::find(host.orders, order.id, &OrderState::id);
    if (state == host.orders.end()) {
      if (where.matches(host.all_labels()) && !host.is_away(now_ns)) reports.silent.push_back(host.host);
      continue;
    }
    reports.events += state->events;
    if (state->now == OrderState::Now::kApplied) ++reports.applied;
    if (state->now == OrderState::Now::kRefused) ++reports.refused;
    if (state->now == OrderState::Now::kEnded) ++reports.ended;
    add_refusals(reports, host, *state);
    if (state->now == OrderState::Now::kRefused) continue;
    for (const std::string& event : state->missing) ++missing[event];
    reports.there.insert(reports.there.end(), state->there.begin(), state->there.end());
  }
  for (const auto& [event, hosts_without] : missing) {
    if (hosts_without == reports.applied + reports.ended) reports.missing.push_back(event);
  }
  return reports;
}

std::vector<std::string> missing_texts(const Reports& reports) {
  std::vector<EventName> there;
  for (const std::string& event : reports.there) {
    const std::size_t colon = std::min(event.find(':'), event.size());
    there.push_back({event.substr(0, colon), event.substr(std::min(colon + 1, event.size()))});
  }
  std::vector<std::string> texts;
  for (const std::string& event : reports.missing) {
    const auto& [group, about] = reports.probe;
    if (!group.empty() && event.starts_with(group)) {
      texts.push_back(about + ": no host has an event of it");
      continue;
    }
    const auto pattern = event::Pattern::parse(event);
    if (pattern) texts.push_back(missing_text(*pattern) + " at any host" + instead_text(*pattern, there));
  }
  return texts;
}

std::string reports_text(const Reports& reports) {
  const auto hosts = [](std::uint64_t count) { return count_text(count) + (count == 1 ? " host" : " hosts"); };
  std::string text = "applied by " + hosts(reports.applied + reports.ended);
  if (reports.refused > 0) text += ", refused by " + hosts(reports.refused);
  constexpr std::size_t kMostNames = 8;
  const std::span named(reports.silent.data(), std::min(reports.silent.size(), kMostNames));
  if (!named.empty()) text += fmt::format(", no answer from {}", fmt::join(named, ", "));
  const std::size_t more = reports.silent.size() - named.size();
  if (more > 0) text += fmt::format(" and {} more", count_text(more));
  return text;
}

namespace {

std::string span_text(std::uint64_t ns) {
  const auto number = static_cast<double>(ns);
  if (ns < 10'000) return fmt::format("{} ns", ns);
  if (ns < 10'000'000) return fmt::format("{:.0f} us", number / 1e3);
  if (ns < 10'000'000'000) return fmt::format("{:.0f} ms", number / 1e6);
  return ns < 120'000'000'000 ? fmt::format("{:.1f} s", number / 1e9) : age_text(ns);
}

std::string clock_text(const SnapshotRow& row) {
  if (!row.bound_ns) return "not compared";
  return "+-" + span_text(*row.bound_ns);
}

}  // namespace

std::string problem_text(const std::string& damage, std::uint64_t without_room, const std::string& no_room) {
  if (without_room == 0) return damage;
  return damage + (damage.empty() ? "" : "; ") +
         fmt::format("{} events have no room: {}", count_text(without_room), no_room);
}

std::string snapshot_text(const SnapshotText& snapshot) {
  std::vector<Row> rows{{"HOST", "DOMAIN", "EVENTS", "LOST", "REACHES BACK", "CLOCK"}};
  std::uint64_t events = 0;
  std::uint64_t worst_ns = 0;
  bool is_compared = true;
  for (const SnapshotRow& row : snapshot.rows) {
    events += row.events;
    worst_ns = std::max(worst_ns, row.bound_ns.value_or(0));
    is_compared = is_compared && row.bound_ns;
    rows.push_back({row.host, row.domain, count_text(row.events), count_text(row.lost),
                    row.reaches_ns ? span_text(*row.reaches_ns) : "-", clock_text(row)});
  }
  return table_text(std::move(rows)) +
         fmt::format("{}: {} events of {}, as of one moment; their clocks {}\n", visible(snapshot.file, Lines::kNone),
                     count_text(events),
                     snapshot.rows.size() == 1 ? "1 host" : count_text(snapshot.rows.size()) + " hosts",
                     is_compared ? "are aligned within " + span_text(worst_ns)
                                 : "could not all be compared, and are aligned by the time of day there");
}

std::string snapshot_json(const SnapshotText& snapshot) {
  auto hosts = nlohmann::json::array();
  for (const SnapshotRow& row : snapshot.rows) {
    nlohmann::json json{{"host", row.host},
                        {"domain", row.domain},
                        {"events", row.events},
                        {"lost", row.lost},
                        {"left", row.left},
                        {"later", row.later},
                        {"offset_ns", row.offset_ns},
                        {"left_out", row.left_out},
                        {"problem", row.problem}};
    json["bound_ns"] = row.bound_ns ? nlohmann::json(*row.bound_ns) : nlohmann::json();
    json["reaches_back_ns"] = row.reaches_ns ? nlohmann::json(*row.reaches_ns) : nlohmann::json();
    hosts.push_back(std::move(json));
  }
  const nlohmann::json all{{"file", snapshot.file}, {"hosts", std::move(hosts)}};
  return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

namespace {

// Of each group. One of a group that is not there is left out.
void add_slowest(HistView& view, const fleet::Frame& sum) {
  for (const fleet::Slow& slow : sum.slowest) {
    std::vector<HistKey> keys;
    for (std::size_t i = 0; i + 1 < slow.keys.size(); ++i) keys.push_back(typed_key(sum.table.keys[i], slow.keys[i]));
    const auto group = std::ranges::find(view.groups, keys, &HistGroup::keys);
    if (group == view.groups.end()) continue;
    group->slowest.push_back({.ns = slow.ns,
                              .host = slow.host,
                              .time_ns = slow.time_ns,
                              .tid = slow.tid,
                              .task = slow.task,
                              .fields = slow.fields,
                              .stack = slow.stack});
  }
}

}  // namespace

Result<std::string> sums_text(const Order& order, const std::vector<fleet::Frame>& sums, bool json,
                              std::size_t columns) {
  std::string text;
  for (const fleet::Frame& sum : sums) {
    HistShape shape = shape_of(order, sum.table);
    shape.title = sum.event;
    LT_TRY(HistView view, make_view(shape, sum.table));
    if (order.kind == Order::Kind::kLatency) {
      view.unpaired = {sum.unpaired.starts, sum.unpaired.ends, sum.unpaired.lost};
    }
    add_slowest(view, sum);
    text += json ? json_text(shape, view) : chart_text(shape, view, columns);
    const std::size_t space = sum.host.find(' ');
    if (space != std::string::npos && !json) text += "left out, having other fields:" + sum.host.substr(space) + "\n";
  }
  return text;
}

}  // namespace landtrace::cli
