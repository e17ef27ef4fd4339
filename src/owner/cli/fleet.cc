// `landtrace fleet` and `landtrace collect`
#include <unistd.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/fleet/collector.hpp"
#include "cli/fleet/order_watch.hpp"
#include "cli/fleet/past.hpp"
#include "cli/fleet/past_text.hpp"
#include "cli/fleet/snapshot.hpp"
#include "cli/fleet/trial.hpp"
#include "cli/terminal.hpp"
#include "cli/text_output.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"
#include "event/pattern.hpp"
#include "fleet/own_histograms.hpp"
#include "fleet/store_address.hpp"
#include "fleet/where.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kWhat =
    "want up, hosts, orders, enable, filter, trigger, probe, tail, snapshot, hist, latency, history, show, end or "
    "key";

int print(const std::string& text) {
  TextOutput out;
  out.text() += text;
  out.flush();
  return out.status();
}

int fail_of(const Error& error) { return fail_with(error.code == EINVAL ? kBadUse : kFailure, sentence(error)); }

void complain_of_refused(const std::string& what, const std::vector<std::string>& names) {
  if (const std::string text = refused_text(what, names); !text.empty()) complain(text);
}

Result<std::vector<fleet::Status>> hosts_where(const FleetHelper& fleet, const std::string& expression) {
  LT_TRY(const fleet::Where where, fleet::Where::parse(expression));
  LT_TRY(Listed<fleet::Status> listed, fleet.hosts());
  complain_of_refused("message", listed.refused);
  std::vector<fleet::Status> hosts = std::move(listed.entries);
  std::erase_if(hosts, [&](const fleet::Status& host) { return !where.matches(host.all_labels()); });
  return hosts;
}

int tell_hosts(const FleetHelper& fleet, const FleetOptions& options) {
  const auto hosts = hosts_where(fleet, options.where);
  if (!hosts) return fail_of(hosts.error());
  if (hosts->empty() && !options.json) {
    return fail_with(kFailure, options.where.empty() ? "there is no host yet: landtraced --fleet joins one"
                                                     : "there is no host where " + options.where);
  }
  return print(options.json ? hosts_json(*hosts, fleet::wall_ns()) : hosts_text(*hosts, fleet::wall_ns()));
}

int tell_orders(const FleetHelper& fleet) {
  const auto orders = fleet.orders();
  if (!orders) return fail_of(orders.error());
  const auto hosts = fleet.hosts();
  if (!hosts) return fail_of(hosts.error());
  complain_of_refused("order", orders->refused);
  const std::uint64_t now_ns = fleet::wall_ns();
  std::string text = orders_text(orders->entries, hosts->entries, now_ns);
  for (const fleet::Order& order : orders->entries) {
    for (const std::string& why : reports_of(order, hosts->entries, now_ns).refusals) {
      text += visible(order.id + ": " + why, Lines::kNone) + "\n";
    }
  }
  return print(text);
}

Result<fleet::Order> find_order(const FleetHelper& fleet, const std::string& id) {
  LT_TRY(const Listed<fleet::Order> orders, fleet.orders());
  const auto found = std::ranges::find(orders.entries, id, &fleet::Order::id);
  if (found == orders.entries.end()) {
    fleet::Order order;
    order.id = id;
    order.kind = fleet::Order::Kind::kHist;
    return order;  // it has ended; what was counted for it may be there
  }
  return *found;
}

// The stream has what was counted in the last days; a store may have more, also of orders that nobody knows any more.
std::vector<fleet::Frame> sums_of_past(const FleetHelper& fleet, const FleetOptions& options, fleet::Order& order) {
  constexpr std::uint64_t kEver_ns = 1;
  auto known = fleet.history(
      {.order = order.id, .period = {kEver_ns, fleet::wall_ns(), 0, true}, .where = options.where, .per = options.per});
  if (!known || known->frames.empty()) return {};
  for (const std::string& note : past_notes(*known, kEver_ns)) complain(note);
  if (fleet::is_of_latency(known->frames.front())) order.kind = fleet::Order::Kind::kLatency;
  return std::move(known->frames);
}

int show(const FleetHelper& fleet, const FleetOptions& options) {
  if (options.words.size() != 2) return fail_with(kBadUse, "want: landtrace fleet show ORDER");
  auto order = find_order(fleet, options.words[1]);
  if (!order) return fail_of(order.error());
  auto sums = fleet.sums(order->id, options.per);
  if (!sums) return fail_of(sums.error());
  if (sums->empty()) sums = sums_of_past(fleet, options, *order);
  if (sums->empty()) return fail_with(kFailure, "nothing was counted for an order '" + order->id + "'");
  const auto text = sums_text(*order, *sums, options.json, Screen::of(STDOUT_FILENO).columns);
  return text ? print(*text) : fail_of(text.error());
}

// No order: what hosts' own users have set up.
int show_own(const FleetHelper& fleet, const FleetOptions& options) {
  if (options.words.size() != 2 || !options.keys.empty() || !options.vals.empty() || !options.filter.empty() ||
      !options.probe.empty()) {
    return fail_with(kBadUse, "want: landtrace fleet hist EVENT --own: the hosts' histograms are as they were set up");
  }
  if (const auto where = fleet::Where::parse(options.where); !where) return fail_of(where.error());
  if (const auto pattern = event::Pattern::parse(options.words[1]); !pattern) return fail_of(pattern.error());
  const auto hosts = hosts_where(fleet, options.where);
  if (!hosts) return fail_of(hosts.error());
  for (const fleet::Status& host : *hosts) {
    for (const fleet::OrderState& state : host.orders) {
      if (state.id != fleet::kOwn) continue;
      for (const fleet::Refusal& one : state.refusals) complain(host.host + ": " + one.event + ": " + one.reason);
    }
  }
  const auto sums = fleet.own_sums(options.words[1], options.where, options.per);
  if (!sums) return fail_of(sums.error());
  if (sums->empty()) {
    return fail_with(kFailure, "no host sends a histogram of its own of '" + options.words[1] +
                                   "': users set them up there (landtrace write events/…/trigger), and "
                                   "landtraced --fleet-histograms sends them");
  }
  fleet::Order order;
  order.kind = fleet::Order::Kind::kHist;
  const auto text = sums_text(order, *sums, options.json, Screen::of(STDOUT_FILENO).columns);
  return text ? print(*text) : fail_of(text.error());
}

int end(const FleetHelper& fleet, const FleetOptions& options) {
  if (options.words.size() < 2) return fail_with(kBadUse, "want: landtrace fleet end ORDER...");
  const auto ended = fleet.end({options.words.begin() + 1, options.words.end()});
  return ended ? kSuccess : fail_of(ended.error());
}

int make_key(const FleetHelper& fleet, const FleetOptions& options) {
  if (options.words.size() != 3 || options.words[1] != "new") {
    return fail_with(kBadUse, "want: landtrace fleet key new FILE");
  }
  const std::string& file = options.words[2];
  if (auto made = fleet.make_key(file); !made) return fail_of(made.error());
  return print(visible(file, Lines::kNone) + ": signs orders (--sign)\n" + visible(file, Lines::kNone) +
               ".pub: for hosts that are to take no other ones (landtraced --fleet-trust)\n");
}

int give(const FleetHelper& fleet, const FleetOptions& options) {
  auto order = order_of(options);
  if (!order) return fail_of(order.error());
  const bool is_watched = order->kind != fleet::Order::Kind::kEnable && !options.detach;
  const bool is_tail = order->kind == fleet::Order::Kind::kTail;
  OrderWatch watch(fleet, options, *std::move(order));
  if (is_tail) return watch.tail();
  return is_watched ? watch.watch() : watch.give();
}

int run(FleetOptions& options) {
  constexpr const char* kOrders[] = {"enable", "filter", "trigger", "probe", "hist", "latency", "tail"};
  const std::string& what = options.words[0];
  if (what == "up") return run_trial(options);
  if (auto completed = complete(options.address); !completed) return fail_of(completed.error());
  const auto fleet = FleetHelper::find(options.address);
  if (!fleet) return fail_of(fleet.error());
  if (options.own && what != "hist") return fail_with(kBadUse, "--own is for hist");
  if (options.own && is_of_past(options)) return fail_with(kBadUse, "--own counts until now: a period is for orders");
  if (options.own) return show_own(*fleet, options);
  if (is_of_past(options)) return run_past(*fleet, options);
  if (std::ranges::find(kOrders, what) != std::end(kOrders)) return give(*fleet, options);
  if (what == "snapshot") return run_snapshot(*fleet, options);
  if (what == "key") return make_key(*fleet, options);
  if (what == "show") return show(*fleet, options);
  if (what == "end") return end(*fleet, options);
  if (what != "hosts" && what != "orders") return fail_with(kBadUse, kWhat);
  if (options.words.size() > 1) return fail_with(kBadUse, what + " takes no more words");
  return what == "hosts" ? tell_hosts(*fleet, options) : tell_orders(*fleet);
}

}  // namespace

void add_fleet(Program& program) {
  auto options = std::make_shared<FleetOptions>();
  Command& command = program.add("fleet", "Trace many hosts: who is there, and what they are to do and have counted");
  command.words("WHAT", options->words,
                "up, hosts, orders, enable EVENT, filter EVENT EXPR, trigger EVENT TRIGGER, probe PROBE, snapshot, "
                "tail EVENT, hist EVENT, latency, history, show ORDER, end ORDER..., key new FILE",
                {.required = true});
  add_fleet_address(command, options->address);
  command.option("--where", options->where, "Which hosts: role=web && !(zone=b || host=test-*)", {.type = "EXPR"});
  command.option("--for", options->lasts, "How long an order is there: 30s, 10m, 2h, 1d",
                 {.type = "TIME", .shows_default = true});
  command.option("--interval", options->interval, "How often hosts send what they have counted",
                 {.type = "TIME", .default_text = "1s; with --detach as each host likes, 10s"});
  command.option("-p,--probe", options->probe, "In place of the event: a function of each host's own object",
                 {.type = "'OBJECT:FUNCTION [NAME=FETCH]...'"});
  command.option("--filter", options->filter, "Only events for which this is true", {.type = "EXPR"});
  command.repeated("--trigger", options->triggers, "With enable: what an event does besides; may be repeated",
                   {.type = "TRIGGER"});
  command.repeated_list("--keys", options->keys, "With hist: fields to count by", {.type = "FIELD,..."});
  command.repeated_list("--vals", options->vals, "With hist: fields to add up, one with .log2 for its distribution",
                        {.type = "FIELD,..."});
  command.flag("--own", options->own, "With hist: no order, but what users of hosts count (--fleet-histograms)");
  command.option("--from", options->from, "With latency: the event that begins it", {.type = "EVENT"});
  command.option("--to", options->to, "… and the one that ends it", {.type = "EVENT"});
  command.repeated_list("--key", options->key, "… fields that say which two belong together", {.type = "FIELD,..."});
  command.repeated_list("--to-key", options->to_key, "… the same in the second event", {.type = "FIELD,..."});
  command.repeated_list("--by", options->by, "… fields of the second event to group by", {.type = "FIELD,..."});
  command.flag("--stack", options->stack, "… with stacks of the slowest events: programs record one with each");
  command.repeated_list("--per", options->per, "Labels to group by: host, role", {.type = "LABEL,..."});
  command.flag("--live", options->live, "Show it every second, also where no terminal is");
  command.option("--sign", options->sign, "Sign the order with this key (key new FILE), for hosts with --fleet-trust",
                 {.type = "FILE"});
  command.flag("--detach", options->detach, "Give the order and return; show ORDER shows what was counted");
  command.flag("--json", options->json, "Print JSON");
  command.repeated_list("-e,--event", options->events, "With snapshot: events that are wanted of what is recorded",
                        {.type = "EVENT,..."});
  command.option("-o,--output", options->output, "With snapshot: the file", {.type = "FILE", .shows_default = true});
  command.option("--timeout", options->timeout, "With snapshot: how long nothing may come of a host",
                 {.type = "TIME", .shows_default = true});
  command.option("--last", options->last, "With history, show, hist and latency: what was counted in the last so long",
                 {.type = "TIME"});
  command.option("--since", options->since, "… since then: 10:30, '2026-11-24 10:30', 2h (ago)", {.type = "TIME"});
  command.option("--until", options->until, "… until then", {.type = "TIME"});
  command.option("--every", options->every, "… in parts of so long", {.type = "TIME"});
  command.option("--listen", options->listen, "With up: where hosts find it",
                 {.type = "ADDRESS:PORT", .shows_default = true});
  command.option("--store", options->store, "With up: the folder for what it keeps", {.type = "DIR"});
  command.examples(
      "Examples:\n"
      "  landtrace fleet up                                        all that it takes, on this machine, for a trial\n"
      "  landtrace fleet hosts --where 'role=web && zone!=b'\n"
      "  landtrace fleet latency --from req_start --to req_done --key id --by route --per host --for 30s\n"
      "  landtrace fleet hist req_done --keys route --vals bytes.log2=32 --where role=web --for 1h --detach\n"
      "  landtrace fleet hist 'req_*' --own --per role            what users of the hosts count there anyway\n"
      "  landtrace fleet latency --from req_start --to req_done --last 1h --every 1m --per host\n"
      "  landtrace fleet tail req_done --filter 'status >= 500'\n"
      "  landtrace fleet enable req_done && landtrace fleet snapshot && landtrace report fleet.dat\n"
      "  landtrace fleet hist -p 'libc.so.6:malloc size=$arg1' --keys size.log2 --per host --for 10s\n"
      "  landtrace fleet probe 'libssl.so.3:SSL_write size=$arg3' --where role=web && landtrace fleet snapshot\n"
      "  landtrace fleet filter req_done 'status >= 500' --for 1d");
  command.runs([options] { return run(*options); });
}

void add_collect(Program& program) {
  auto words = std::make_shared<CollectWords>();
  Command& command = program.add("collect", "Keep the sums of a fleet, and what was counted when, for who asks");
  add_fleet_address(command, words->options.address);
  command.option("--store", words->options.store, "A ClickHouse server that gets all of it, too",
                 {.type = "clickhouse://HOST[:PORT][/DATABASE]"});
  command.option("--store-user", words->options.store_user, "The user there: a file with USER:PASSWORD",
                 {.type = "FILE", .needs = "--store"});
  command.option("--keep", words->keep, "How long it is there: 7d, 30d", {.type = "TIME", .default_text = "30d"});
  command.option("--memory", words->memory, "How much memory is for what was counted when",
                 {.type = "SIZE", .default_text = "256M"});
  command.repeated("--metrics", words->metrics, "Serve metrics of the fleet there for Prometheus; may be repeated",
                   {.type = "HOST:PORT|/PATH"});
  command.repeated_list("--metrics-by", words->by, "… what was counted by these labels and keys; host if not given",
                        {.type = "NAME,..."});
  command.examples(
      "Examples:\n"
      "  landtrace collect --fleet nats://control:4222       any number of them share the work\n"
      "  landtrace collect --store clickhouse://db:8123/landtrace --store-user /etc/landtrace/store-user --keep 90d\n"
      "  landtrace collect --metrics 127.0.0.1:9465 --metrics-by role,route");
  command.runs([words] { return run_collect(*words); });
}

}  // namespace landtrace::cli
