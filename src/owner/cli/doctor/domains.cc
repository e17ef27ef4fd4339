#include <fmt/format.h>

#include "cli/doctor/check.hpp"
#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli::doctor {

Check check_domain(const char* id, const std::string& path) {
  const auto owner = ipc::connect_to(path);
  if (!owner) {
    if (is_nobody(owner.error())) return {kDomains, id, State::kAbsent, "nobody serves " + path, ""};
    return {kDomains, id, State::kMissing, sentence(owner.error()), ""};
  }
  constexpr int kPatience_s = 3;
  ipc::set_timeout(owner->get(), 1000 * kPatience_s);
  const auto about = ipc::ask(owner->get(), {.operation = ipc::Operation::kAbout});
  if (!about) {
    return {kDomains, id, State::kMissing, sentence(about.error(), path),
            "end it, and start it again from this version"};
  }
  return {kDomains, id, State::kWorks,
          fmt::format("{}, process {} of user {}, at {}", about->text, about->reply.a, about->reply.b, path), ""};
}

std::vector<Check> check_domains() {
  std::vector<Check> checks;
  if (const std::string named = named_socket(""); !named.empty()) checks.push_back(check_domain("named_domain", named));
  checks.push_back(check_domain("user_domain", ipc::user_socket()));
  checks.push_back(check_domain("system_domain", ipc::kSystemSocket));
  return checks;
}

}  // namespace landtrace::cli::doctor
