#include "metrics/own_name.hpp"

#include <arpa/inet.h>

#include <string>

namespace landtrace::metrics {

bool is_own_name(std::string_view host) {
  constexpr std::string_view kSix = "[::1]";
  if (host.starts_with('[')) return host == kSix || host.starts_with(std::string(kSix) + ":");
  const std::string name(host.substr(0, host.find(':')));
  in_addr number{};
  const bool is_number = ::inet_pton(AF_INET, name.c_str(), &number) == 1;
  return is_number ? ntohl(number.s_addr) >> 24 == IN_LOOPBACKNET : name.empty() || name == "localhost";
}

}  // namespace landtrace::metrics
