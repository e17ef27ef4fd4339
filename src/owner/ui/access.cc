#include "ui/access.hpp"

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

}  // namespace

Result<std::string> Access::make_token() {
  unsigned char bytes[kTokenBytes];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return fail_errno("getrandom");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Result<std::string> Access::check(const Asked& asked) const {
  const auto is_host = [&](std::string_view host) { return asked.host == host; };
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
