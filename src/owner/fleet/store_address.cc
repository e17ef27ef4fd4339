#include "fleet/store_address.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kOverHttp = "clickhouse://";
constexpr std::string_view kOverHttps = "clickhouses://";
constexpr std::uint16_t kHttpPort = 8123;
constexpr std::uint16_t kHttpsPort = 8443;
constexpr const char* kDefaultDatabase = "default";

tl::unexpected<Error> bad_address() {
  return fail(EINVAL, "--store: want clickhouse://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE], or clickhouses:// for TLS");
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_escaped = text[i] == '%' && i + 2 < text.size() &&
                            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    plain += is_escaped ? static_cast<char>(byte) : text[i];
    if (is_escaped) i += 2;
  }
  return plain;
}

bool read_port(std::string_view text, std::uint16_t& port) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && rest == text.data() + text.size() && port != 0;
}

// HOST, HOST:PORT, [HOST]:PORT.
bool read_place(std::string_view place, StoreAddress& address) {
  const std::size_t bracket = place.rfind(']');
  const std::size_t colon = place.find(':', bracket == std::string_view::npos ? 0 : bracket);
  address.host = place.substr(0, colon);
  if (colon != std::string_view::npos && !read_port(place.substr(colon + 1), address.port)) return false;
  return !address.host.empty() && address.host.find_first_of("/?# ") == std::string::npos;
}

}  // namespace

Result<StoreAddress> StoreAddress::parse(const std::string& text) {
  StoreAddress address;
  address.is_tls = text.starts_with(kOverHttps);
  if (!address.is_tls && !text.starts_with(kOverHttp)) return bad_address();
  address.port = address.is_tls ? kHttpsPort : kHttpPort;
  std::string_view rest = std::string_view(text).substr(address.is_tls ? kOverHttps.size() : kOverHttp.size());
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    LT_CHECK(address.read_user(rest.substr(0, at)));
    address.user = decoded(address.user);
    address.password = decoded(address.password);
    rest.remove_prefix(at + 1);
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  address.database = rest.substr(std::min(rest.size(), slash + 1));
  if (address.database.empty()) address.database = kDefaultDatabase;
  if (!read_place(rest.substr(0, slash), address)) return bad_address();
  return address;
}

Result<void> StoreAddress::read_user(std::string_view line) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  user = line.substr(0, colon);
  password = line.substr(std::min(line.size(), colon + 1));
  if (user.empty()) return fail(EINVAL, "want USER:PASSWORD");
  return {};
}

std::string StoreAddress::url() const {
  return (is_tls ? "https://" : "http://") + host + ":" + std::to_string(port) + "/";
}

std::string StoreAddress::shown() const {
  return std::string(is_tls ? kOverHttps : kOverHttp) + host + ":" + std::to_string(port) + "/" + database;
}

std::string json_of(const CollectOptions& options) {
  return Json{{"address", json_of(options.address)},
              {"store", options.store},
              {"store_user", options.store_user},
              {"keep_days", options.keep_days},
              {"memory", options.memory}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CollectOptions> collect_options_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(EINVAL, "options that make no sense");
  try {
    CollectOptions options;
    LT_TRY(options.address, address_of(json.at("address").get<std::string>()));
    options.store = json.value("store", "");
    options.store_user = json.value("store_user", "");
    options.keep_days = json.value("keep_days", options.keep_days);
    options.memory = json.value("memory", options.memory);
    return options;
  } catch (const Json::exception&) {
    return fail(EINVAL, "options that make no sense");
  }
}

}  // namespace landtrace::fleet
