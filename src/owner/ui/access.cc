#include "ui/access.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

namespace landtrace::ui {
namespace {

constexpr std::size_t kTokenBytes = 16;

// Takes as long wherever the first difference is.
bool is_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

// "192.0.2.1:4711", "[2001:db8::1]:4711"
bool is_number_with_port(std::string_view host, std::string_view port) {
  if (!host.ends_with(port)) return false;
  host.remove_suffix(port.size());
  in6_addr address;
  const bool is_six = host.starts_with('[') && host.ends_with(']');
  const std::string number(is_six ? host.substr(1, host.size() - 2) : host);
  return ::inet_pton(is_six ? AF_INET6 : AF_INET, number.c_str(), &address) == 1;
}

bool fits_host(const std::string& wanted, std::string_view host) {
  return wanted.starts_with('*') ? is_number_with_port(host, std::string_view(wanted).substr(1)) : host == wanted;
}

}  // namespace

Result<std::string> Access::make_token() {
  unsigned char bytes[kTokenBytes];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return fail_errno("getrandom");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Result<std::string> Access::check(const Asked& asked) const {
  const auto is_host = [&](const std::string& host) { return fits_host(host, asked.host); };
  if (std::none_of(hosts_.begin(), hosts_.end(), is_host)) return fail(EACCES, "the host is another's");
  const bool is_own_origin = asked.origin == fmt::format("http://{}", asked.host);
  if (!asked.origin.empty() && !is_own_origin) return fail(EACCES, "the page is another site's");
  const bool is_asked_by_user = asked.fetch_site.empty() || asked.fetch_site == "none";
  if (!is_asked_by_user && asked.fetch_site != "same-origin") return fail(EACCES, "the page is another site's");
  const std::string_view path = asked.path.substr(std::min<std::size_t>(1, asked.path.size()));
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || !is_equal(path.substr(0, slash), token_)) return fail(EACCES, "no token");
  if (asked.method != "GET" && (!is_own_origin || asked.marker.empty())) return fail(EACCES, "no page of ours asks");
  return std::string(path.substr(slash + 1));
}

}  // namespace landtrace::ui
