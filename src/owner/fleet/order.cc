#include "fleet/order.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "fleet/parse_json.hpp"

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::array kKinds{std::pair(Order::Kind::kEnable, "enable"), std::pair(Order::Kind::kHist, "hist"),
                            std::pair(Order::Kind::kLatency, "latency"), std::pair(Order::Kind::kTail, "tail"),
                            std::pair(Order::Kind::kSnapshot, "snapshot")};

Result<Order::Kind> kind_of(const std::string& text) {
  for (const auto& [kind, name] : kKinds) {
    if (text == name) return kind;
  }
  return fail(EINVAL, "an order of the kind '" + text + "' is not known here: update this host");
}

}  // namespace

std::uint64_t wall_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

const char* kind_text(Order::Kind kind) {
  for (const auto& [one, name] : kKinds) {
    if (one == kind) return name;
  }
  return "";
}

Result<std::vector<event::Pattern>> patterns_of(const std::string& with_commas) {
  std::vector<event::Pattern> patterns;
  for (std::size_t at = 0; !with_commas.empty() && at <= with_commas.size();) {
    const std::size_t comma = std::min(with_commas.find(',', at), with_commas.size());
    LT_TRY(event::Pattern pattern, event::Pattern::parse(with_commas.substr(at, comma - at)));
    patterns.push_back(std::move(pattern));
    at = comma + 1;
  }
  return patterns;
}

std::string about(const Order& order) {
  const std::string kind = kind_text(order.kind);
  const Probe& probe = order.probe;
  if (probe.object.empty()) return kind + " " + (order.event.empty() ? "every event" : order.event);
  std::string text = (order.kind == Order::Kind::kEnable ? "probe" : kind + " -p") + " '";
  text += probe.object + ":" + probe.place + (probe.is_return ? "%return" : "");
  if (!probe.arguments.empty()) text += " " + probe.arguments;
  return text + "'";
}

std::string probe_group(const std::string& order) { return "fleet_" + order; }

std::string json_of(const Order& order) {
  return Json{{"id", order.id},
              {"kind", kind_text(order.kind)},
              {"where", order.where},
              {"event", order.event},
              {"to", order.to},
              {"key", order.key},
              {"to_key", order.to_key},
              {"by", order.by},
              {"stack", order.stack},
              {"filter", order.filter},
              {"triggers", order.triggers},
              {"probe",
               {{"object", order.probe.object},
                {"place", order.probe.place},
                {"is_return", order.probe.is_return},
                {"arguments", order.probe.arguments},
                {"name", order.probe.name}}},
              {"made_ns", order.made_ns},
              {"until_ns", order.until_ns},
              {"interval_ms", order.interval_ms},
              {"moment_ns", order.moment_ns},
              {"by_whom", order.by_whom}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Order> order_of(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return fail(EINVAL, "an order that makes no sense");
  try {
    Order order;
    order.id = json.at("id").get<std::string>();
    LT_TRY(order.kind, kind_of(json.at("kind").get<std::string>()));
    order.where = json.value("where", "");
    order.event = json.at("event").get<std::string>();
    order.to = json.value("to", "");
    order.key = json.value("key", order.key);
    order.to_key = json.value("to_key", order.to_key);
    order.by = json.value("by", order.by);
    order.stack = json.value("stack", false);
    order.filter = json.value("filter", "");
    order.triggers = json.value("triggers", order.triggers);
    const Json probe = json.value("probe", Json::object());
    order.probe = {.object = probe.value("object", ""),
                   .place = probe.value("place", ""),
                   .is_return = probe.value("is_return", false),
                   .arguments = probe.value("arguments", ""),
                   .name = probe.value("name", "")};
    order.made_ns = json.value("made_ns", order.made_ns);
    order.until_ns = json.value("until_ns", order.until_ns);
    order.interval_ms = json.value("interval_ms", order.interval_ms);
    order.moment_ns = json.value("moment_ns", order.moment_ns);
    order.by_whom = json.value("by_whom", "");
    return order;
  } catch (const Json::exception&) {
    return fail(EINVAL, "an order that makes no sense");
  }
}

}  // namespace landtrace::fleet
