// The domain that a command records or watches: a domain of its own for a CMD, else the user's.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "consumer/domain_view.hpp"
#include "consumer/session.hpp"
#include "daemon/hosted_domain.hpp"

namespace landtrace::cli {

class Workplace {
 public:
  // Serves the user's domain from this process if nobody serves it.
  static Result<Workplace> find(bool for_command, std::uint64_t ring_bytes);

  [[nodiscard]] consumer::DomainView& view() { return *view_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  // "the domain at PATH", and why that one.
  [[nodiscard]] std::string text() const { return "the domain at " + socket_ + why_; }
  // A session of the domain. EPERM says which domain refuses it, and what this user can do.
  Result<consumer::Session> open_session(const consumer::Session::Options& rings);
  // Starts CMD, for which the domain must have been made. `tracefs`: the files of the domain are where tools look for
  // them.
  Result<Child> start(const std::vector<std::string>& command, bool tracefs, const sigset_t& mask,
                      Child::Output output = Child::Output::kShared);

  // Of programs that were there already, and that no probe comes to: a sentence each.
  [[nodiscard]] std::vector<std::string> unattached() const { return unattached_->texts(); }

 private:
  // Told by a thread of the domain's.
  class Texts {
   public:
    void add(const std::string& text) {
      const std::lock_guard lock(mutex_);
      texts_.push_back(text);
    }
    [[nodiscard]] std::vector<std::string> texts() const {
      const std::lock_guard lock(mutex_);
      return texts_;
    }

   private:
    mutable std::mutex mutex_;
    std::vector<std::string> texts_;
  };
  std::shared_ptr<Texts> unattached_ = std::make_shared<Texts>();
  std::unique_ptr<daemon::HostedDomain> hosted_;
  std::string socket_;
  std::string why_;  // … it is another than the user's own
  std::string preload_;
  std::unique_ptr<consumer::DomainView> view_;  // stays in its place
};

// What to exit with where a CMD could not be started.
int status_of_spawn_error(const Error& error);

}  // namespace landtrace::cli
