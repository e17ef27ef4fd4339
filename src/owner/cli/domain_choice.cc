#include "cli/domain_choice.hpp"

#include <unistd.h>

#include <cstdlib>

#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli {

std::string named_socket(const std::string& option) {
  if (!option.empty()) return option;
  const char* const named = std::getenv(ipc::kSocketVariable);
  return named == nullptr ? "" : named;
}

std::optional<std::string> mountable_domain(const std::string& option) {
  if (std::string named = named_socket(option); !named.empty()) return named;
  if (std::string own = ipc::user_socket(); ipc::connect_to(own)) return own;
  if (::geteuid() == 0 && ipc::connect_to(ipc::kSystemSocket)) return ipc::kSystemSocket;
  return std::nullopt;
}

bool is_nobody(const Error& error) { return error.code == ENOENT || error.code == ECONNREFUSED; }

}  // namespace landtrace::cli
