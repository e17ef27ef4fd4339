#include "cli/domain_choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/failure.hpp"
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
  if (::geteuid() == 0 && ipc::connect_to(ipc::kSystemSocket)) {
    complain(fmt::format("{}: {}", ipc::kSystemSocket, why_text({ipc::kSystemSocket, ChosenDomain::Why::kSystem})));
    return ipc::kSystemSocket;
  }
  return std::nullopt;
}

ChosenDomain choose_domain(const std::string& option) {
  if (!option.empty()) return {option, ChosenDomain::Why::kOption};
  std::string socket = ipc::default_socket();
  if (socket == named_socket("")) return {socket, ChosenDomain::Why::kEnvironment};
  const bool is_own = socket == ipc::user_socket();
  return {std::move(socket), is_own ? ChosenDomain::Why::kOwn : ChosenDomain::Why::kSystem};
}

std::string why_text(const ChosenDomain& domain) {
  switch (domain.why) {
    case ChosenDomain::Why::kOption:
      return "named by --socket";
    case ChosenDomain::Why::kEnvironment:
      return fmt::format("named by ${}", ipc::kSocketVariable);
    case ChosenDomain::Why::kOwn:
      return "the user's own";
    case ChosenDomain::Why::kSystem:
      break;
  }
  return "that of all users, because nobody serves " + ipc::user_socket();
}

std::string domain_to_speak_to(const std::string& option) {
  const ChosenDomain domain = choose_domain(option);
  if (domain.why == ChosenDomain::Why::kSystem) complain(fmt::format("{}: {}", domain.socket, why_text(domain)));
  return domain.socket;
}

bool is_nobody(const Error& error) { return error.code == ENOENT || error.code == ECONNREFUSED; }

tl::unexpected<Error> unreached(Error error) {
  if (is_nobody(error)) error.message += "; `landtraced`, or `landtrace record` without a command, starts one";
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace landtrace::cli
