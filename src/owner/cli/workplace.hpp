// The domain that a command of ours looks at: one of its own for a CMD that it starts, else the user's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "consumer/domain_view.hpp"
#include "daemon/hosted_domain.hpp"

namespace landtrace::cli {

class Workplace {
 public:
  // The user's domain is served from here if nobody does.
  static Result<Workplace> find(bool for_command, std::uint64_t ring_bytes);

  [[nodiscard]] consumer::DomainView& view() { return *view_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  // Starts CMD in the domain, which must be for one; `tracefs`: with its files where tools look for them.
  Result<Child> start(const std::vector<std::string>& command, bool tracefs, const sigset_t& mask);

 private:
  std::unique_ptr<daemon::HostedDomain> hosted_;
  std::string socket_;
  std::string preload_;
  std::unique_ptr<consumer::DomainView> view_;  // stays in its place
};

// What to exit with where a CMD could not be started.
int status_of_spawn_error(const Error& error);

}  // namespace landtrace::cli
