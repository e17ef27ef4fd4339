#include "fleet/signed_order.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "fleet/order.hpp"
#include "fleet/parse_json.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kSignature = "signature";
constexpr const char* kPurpose = "landtrace fleet order 1\n";
// As `--for` has it at most, and a day for clocks and zones that are wrong.
constexpr std::uint64_t kLongest_ns = 31ull * 24 * 3600 * 1'000'000'000;

using OrderJson = nlohmann::json;

std::string text_of(const OrderJson& json) { return json.dump(-1, ' ', false, OrderJson::error_handler_t::replace); }

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

// "" for what is none.
std::string bytes_of(std::string_view hex) {
  std::string bytes;
  if (hex.size() % 2 != 0) return bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(hex.data() + at, hex.data() + at + 2, byte, 16);
    if (error != std::errc() || end != hex.data() + at + 2) return "";
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

Result<std::string> signed_bytes(const std::string& json) {
  OrderJson order = parse_json(json);
  if (!order.is_object()) return fail(EINVAL, "an order that makes no sense");
  order.erase(kSignature);
  return kPurpose + text_of(order);
}

Result<std::string> with_signature(const std::string& json, std::string_view signature) {
  OrderJson order = parse_json(json);
  if (!order.is_object()) return fail(EINVAL, "an order that makes no sense");
  order[kSignature] = hex_of(signature);
  return text_of(order);
}

Result<std::string> verified_order(const std::string& key, const std::string& json, std::uint64_t now_ns,
                                   const Verify& verify) {
  LT_TRY(const std::string bytes, signed_bytes(json));
  const OrderJson given = parse_json(json);
  const auto signature = given.find(kSignature);
  if (signature == given.end() || !signature->is_string()) {
    return fail(EACCES, "it is not signed, and this host takes signed orders alone (--fleet-trust)");
  }
  if (!verify(bytes, bytes_of(signature->get<std::string>()))) {
    return fail(EACCES, "its signature is of no key that this host trusts, or it was changed since (--fleet-trust)");
  }
  std::string order_json = bytes.substr(std::string_view(kPurpose).size());
  LT_TRY(const Order order, order_of(order_json));
  if (order.id != key) return fail(EACCES, "it was signed as the order '" + order.id + "', and stands here as another");
  if (order.until_ns == 0) return fail(EACCES, "it is signed for ever: a signed order has to end");
  if (order.has_ended(now_ns)) return fail(EACCES, "it had ended before this host saw it");
  if (order.until_ns > now_ns + kLongest_ns) return fail(EACCES, "it is signed for more than 30 days");
  return order_json;
}

}  // namespace landtrace::fleet
