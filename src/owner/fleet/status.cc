#include "fleet/status.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "fleet/parse_json.hpp"

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kPatience = 3;  // intervals
// A busy machine may let an agent wait for seconds.
constexpr std::uint64_t kLeastPatience_ms = 10'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::array<const char*, 3> kStates{"applied", "refused", "ended"};

Json json_of(const OrderState& order) {
  Json refusals = Json::array();
  for (const Refusal& refusal : order.refusals) {
    refusals.push_back({{"event", refusal.event}, {"reason", refusal.reason}});
  }
  return {{"id", order.id},           {"state", kStates[static_cast<std::size_t>(order.now)]},
          {"events", order.events},   {"refusals", std::move(refusals)},
          {"missing", order.missing}, {"there", order.there}};
}

OrderState order_state_of(const Json& json) {
  OrderState order;
  order.id = json.at("id").get<std::string>();
  const auto state = json.at("state").get<std::string>();
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (state == kStates[i]) order.now = static_cast<OrderState::Now>(i);
  }
  order.events = json.value("events", order.events);
  order.missing = json.value("missing", order.missing);
  order.there = json.value("there", order.there);
  const auto refusals = json.find("refusals");
  if (refusals == json.end()) return order;
  for (const Json& refusal : *refusals)
    order.refusals.push_back({refusal.value("event", ""), refusal.value("reason", "")});
  return order;
}

}  // namespace

std::uint64_t Status::patience_ns() const { return std::max(kPatience * interval_ms, kLeastPatience_ms) * kNsPerMs; }

bool Status::is_away(std::uint64_t now_ns) const { return now_ns > time_ns && now_ns - time_ns > patience_ns(); }

Labels Status::all_labels() const {
  Labels all = labels;
  all[kHostLabel] = host;
  all[kDomainLabel] = domain;
  return all;
}

std::string json_of(const Status& status) {
  Json orders = Json::array();
  for (const OrderState& order : status.orders) orders.push_back(json_of(order));
  return Json{{"host", status.host},         {"boot", status.boot},       {"domain", status.domain},
              {"labels", status.labels},     {"version", status.version}, {"started", status.started},
              {"sequence", status.sequence}, {"time_ns", status.time_ns}, {"interval_ms", status.interval_ms},
              {"users", status.users},       {"events", status.events},   {"enabled", status.enabled},
              {"recorded", status.recorded}, {"lost", status.lost},       {"unsent", status.unsent},
              {"orders", std::move(orders)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_within(Status status, std::size_t most_bytes) {
  constexpr std::size_t kFewRefusals = 4;
  std::string json = json_of(status);
  if (json.size() <= most_bytes) return json;
  for (OrderState& order : status.orders) {
    order.refusals.resize(std::min(order.refusals.size(), kFewRefusals));
    order.there.clear();
  }
  for (json = json_of(status); json.size() > most_bytes && !status.orders.empty(); json = json_of(status)) {
    status.orders.resize(status.orders.size() / 2);
  }
  return json;
}

Result<Status> status_of(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return fail(EINVAL, "a host's status that makes no sense");
  try {
    Status status;
    status.host = json.at("host").get<std::string>();
    status.boot = json.value("boot", "");
    status.domain = json.value("domain", "");
    status.labels = json.value("labels", status.labels);
    LT_CHECK(check_labels(status.labels));
    status.version = json.value("version", "");
    status.started = json.value("started", status.started);
    status.sequence = json.value("sequence", status.sequence);
    status.time_ns = json.value("time_ns", status.time_ns);
    status.interval_ms = json.value("interval_ms", status.interval_ms);
    status.users = json.value("users", status.users);
    status.events = json.value("events", status.events);
    status.enabled = json.value("enabled", status.enabled);
    status.recorded = json.value("recorded", status.recorded);
    status.lost = json.value("lost", status.lost);
    status.unsent = json.value("unsent", status.unsent);
    const auto orders = json.find("orders");
    if (orders == json.end()) return status;
    for (const Json& order : *orders) status.orders.push_back(order_state_of(order));
    return status;
  } catch (const Json::exception&) {
    return fail(EINVAL, "a host's status that makes no sense");
  }
}

}  // namespace landtrace::fleet
