// `landtrace fleet` and `landtrace collect`
#include <unistd.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/fleet/order_watch.hpp"
#include "cli/fleet/past.hpp"
#include "cli/fleet/snapshot.hpp"
#include "cli/fleet/trial.hpp"
#include "cli/terminal.hpp"
#include "cli/text_output.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"
#include "fleet/store_address.hpp"
#include "fleet/where.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kWhat =
    "want up, hosts, orders, enable, filter, trigger, tail, snapshot, hist, latency, history, show or end";

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

int show(const FleetHelper& fleet, const FleetOptions& options) {
  if (options.words.size() != 2) return fail_with(kBadUse, "want: landtrace fleet show ORDER");
  const auto order = find_order(fleet, options.words[1]);
  if (!order) return fail_of(order.error());
  const auto sums = fleet.sums(order->id, options.per);
  if (!sums) return fail_of(sums.error());
  // The stream has what was counted in the last days; a store may have more.
  if (sums->empty() && fleet.history({.order = order->id, .period = {1, fleet::wall_ns(), 0, true}})) {
    return run_past(fleet, options);
  }
  if (sums->empty()) return fail_with(kFailure, "nothing was counted for an order '" + order->id + "'");
  const auto text = sums_text(*order, *sums, options.json, Screen::of(STDOUT_FILENO).columns);
  return text ? print(*text) : fail_of(text.error());
}

int end(const FleetHelper& fleet, const FleetOptions& options) {
  if (options.words.size() < 2) return fail_with(kBadUse, "want: landtrace fleet end ORDER...");
  const auto ended = fleet.end({options.words.begin() + 1, options.words.end()});
  return ended ? kSuccess : fail_of(ended.error());
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
  constexpr const char* kOrders[] = {"enable", "filter", "trigger", "hist", "latency", "tail"};
  const std::string& what = options.words[0];
  if (what == "up") return run_trial(options);
  if (auto completed = complete(options.address); !completed) return fail_of(completed.error());
  const auto fleet = FleetHelper::find(options.address);
  if (!fleet) return fail_of(fleet.error());
  if (is_of_past(options)) return run_past(*fleet, options);
  if (std::ranges::find(kOrders, what) != std::end(kOrders)) return give(*fleet, options);
  if (what == "snapshot") return run_snapshot(*fleet, options);
  if (what == "show") return show(*fleet, options);
  if (what == "end") return end(*fleet, options);
  if (what != "hosts" && what != "orders") return fail_with(kBadUse, kWhat);
  if (options.words.size() > 1) return fail_with(kBadUse, what + " takes no more words");
  return what == "hosts" ? tell_hosts(*fleet, options) : tell_orders(*fleet);
}

struct CollectWords {
  fleet::CollectOptions options;
  std::string keep;
  std::string memory;
};

Result<fleet::CollectOptions> collect_options(const CollectWords& words) {
  constexpr std::uint64_t kNsPerDay = 86'400'000'000'000;
  fleet::CollectOptions options = words.options;
  LT_CHECK(complete(options.address));
  if (!options.store.empty()) LT_CHECK(fleet::StoreAddress::parse(options.store));
  if (options.store.empty() && !options.store_user.empty()) return fail(EINVAL, "--store-user: want --store, too");
  if (!words.keep.empty()) {
    LT_TRY(const std::uint64_t keep_ns, parse_duration("--keep", words.keep));
    options.keep_days = (keep_ns + kNsPerDay - 1) / kNsPerDay;
  }
  if (!words.memory.empty()) {
    auto memory = parse_size(words.memory);
    if (!memory) return fail(EINVAL, "--memory: " + sentence(memory.error()));
    options.memory = *memory;
  }
  return options;
}

// A collector with a store is a program of its own.
int become_collector(const CollectWords& words) {
  const auto options = collect_options(words);
  if (!options) return fail_of(options.error());
  const auto fleet = FleetHelper::find(options->address);
  if (!fleet) return fail_of(fleet.error());
  const auto command = fleet->collector(*options);
  if (!command) return fail_of(command.error());
  const std::vector<std::string> environment = fleet->environment(fleet::json_of(*options));
  ::execve(command->at(0).c_str(), exec_array(*command).data(), exec_array(environment).data());
  return fail_with(kFailure, command->at(0) + ": " + errno_text(errno));
}

}  // namespace

void add_fleet(Program& program) {
  auto options = std::make_shared<FleetOptions>();
  Command& command = program.add("fleet", "Trace many hosts: who is there, and what they are to do and have counted");
  command.words("WHAT", options->words,
                "up, hosts, orders, enable EVENT, filter EVENT EXPR, trigger EVENT TRIGGER, snapshot, tail EVENT, hist "
                "EVENT, latency, history, show ORDER, end ORDER...",
                {.required = true});
  add_fleet_address(command, options->address);
  command.option("--where", options->where, "Which hosts: role=web && !(zone=b || host=test-*)", {.type = "EXPR"});
  command.option("--for", options->lasts, "How long an order is there: 30s, 10m, 2h, 1d",
                 {.type = "TIME", .shows_default = true});
  command.option("-p,--probe", options->probe, "In place of the event: a function of each host's own object",
                 {.type = "'OBJECT:FUNCTION [NAME=FETCH]...'"});
  command.option("--filter", options->filter, "Only events for which this is true", {.type = "EXPR"});
  command.repeated("--trigger", options->triggers, "With enable: what an event does besides; may be repeated",
                   {.type = "TRIGGER"});
  command.repeated_list("--keys", options->keys, "With hist: fields to count by", {.type = "FIELD,..."});
  command.repeated_list("--vals", options->vals, "With hist: fields to add up, one with .log2 for its distribution",
                        {.type = "FIELD,..."});
  command.option("--from", options->from, "With latency: the event that begins it", {.type = "EVENT"});
  command.option("--to", options->to, "… and the one that ends it", {.type = "EVENT"});
  command.repeated_list("--key", options->key, "… fields that say which two belong together", {.type = "FIELD,..."});
  command.repeated_list("--to-key", options->to_key, "… the same in the second event", {.type = "FIELD,..."});
  command.repeated_list("--by", options->by, "… fields of the second event to group by", {.type = "FIELD,..."});
  command.repeated_list("--per", options->per, "Labels to group by: host, role", {.type = "LABEL,..."});
  command.flag("--live", options->live, "Show it every second, also where no terminal is");
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
      "  landtrace fleet latency --from req_start --to req_done --last 1h --every 1m --per host\n"
      "  landtrace fleet tail req_done --filter 'status >= 500'\n"
      "  landtrace fleet enable req_done && landtrace fleet snapshot && landtrace report fleet.dat\n"
      "  landtrace fleet hist -p 'libc.so.6:malloc size=$arg1' --keys size.log2 --per host --for 10s\n"
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
  command.examples(
      "Examples:\n"
      "  landtrace collect --fleet nats://control:4222       any number of them share the work\n"
      "  landtrace collect --store clickhouse://db:8123/landtrace --store-user /etc/landtrace/store-user --keep 90d");
  command.runs([words] { return become_collector(*words); });
}

}  // namespace landtrace::cli
