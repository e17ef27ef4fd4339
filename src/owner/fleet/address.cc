#include "fleet/address.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kPlain = "nats://";
constexpr std::string_view kTls = "tls://";

Json address_json(const Address& address) {
  return {{"servers", address.servers},
          {"creds", address.creds},
          {"ca", address.ca},
          {"cert", address.cert},
          {"key", address.key}};
}

Address address_in(const Json& json) {
  return {.servers = json.value("servers", ""),
          .creds = json.value("creds", ""),
          .ca = json.value("ca", ""),
          .cert = json.value("cert", ""),
          .key = json.value("key", "")};
}

}  // namespace

bool Address::is_tls() const { return servers.find(kTls) != std::string::npos || !ca.empty() || !cert.empty(); }

Result<std::vector<std::string>> servers_of(const std::string& list) {
  std::vector<std::string> servers;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t scheme = part.find("://");
    if (scheme == std::string_view::npos && !part.empty()) {
      servers.push_back(std::string(kPlain).append(part));
    } else if ((part.starts_with(kPlain) && part.size() > kPlain.size()) ||
               (part.starts_with(kTls) && part.size() > kTls.size())) {
      servers.emplace_back(part);
    } else {
      return fail(EINVAL, "--fleet: want nats://HOST[:PORT] or tls://HOST[:PORT], not '" + std::string(part) + "'");
    }
  }
  if (servers.empty()) return fail(EINVAL, "--fleet: want nats://HOST[:PORT][,HOST[:PORT]...]");
  return servers;
}

std::string without_users(const std::string& list) {
  std::string shown;
  const auto servers = servers_of(list);
  if (!servers) return shown;
  for (const std::string& server : *servers) {
    const std::size_t host = server.find("://") + 3;
    const std::size_t at = server.rfind('@');
    shown += shown.empty() ? "" : ",";
    shown += server.substr(0, host) + server.substr(at == std::string::npos ? host : at + 1);
  }
  return shown;
}

std::string user_of(const std::string& list) {
  const auto servers = servers_of(list);
  if (!servers) return {};
  const std::string& first = servers->front();
  const std::size_t at = first.rfind('@');
  if (at == std::string::npos) return {};
  const std::size_t begin = first.find("://") + 3;
  const std::size_t colon = first.find(':', begin);
  return colon < at ? first.substr(begin, colon - begin) : std::string();
}

std::string json_of(const Address& address) { return address_json(address).dump(); }

std::string json_of(const AgentOptions& options) {
  return Json{{"socket", options.socket},
              {"address", address_json(options.address)},
              {"host", options.host},
              {"domain", options.domain},
              {"labels", options.labels},
              {"version", options.version},
              {"left_out", options.left_out},
              {"trust", options.trust},
              {"histograms", options.histograms},
              {"interval_ms", options.interval_ms},
              {"most_bytes", options.most_bytes},
              {"ended_kept_ms", options.ended_kept_ms}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Address> address_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(EINVAL, "an address that makes no sense");
  try {
    return address_in(json);
  } catch (const Json::exception&) {
    return fail(EINVAL, "an address that makes no sense");
  }
}

Result<AgentOptions> agent_options_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(EINVAL, "options that make no sense");
  try {
    AgentOptions options;
    options.socket = json.at("socket").get<std::string>();
    options.address = address_in(json.at("address"));
    options.host = json.at("host").get<std::string>();
    options.domain = json.at("domain").get<std::string>();
    options.labels = json.value("labels", "");
    options.version = json.value("version", "");
    options.left_out = json.value("left_out", options.left_out);
    options.histograms = json.value("histograms", options.histograms);
    options.trust = json.value("trust", "");
    options.interval_ms = json.value("interval_ms", options.interval_ms);
    options.most_bytes = json.value("most_bytes", options.most_bytes);
    options.ended_kept_ms = json.value("ended_kept_ms", options.ended_kept_ms);
    return options;
  } catch (const Json::exception&) {
    return fail(EINVAL, "options that make no sense");
  }
}

}  // namespace landtrace::fleet
