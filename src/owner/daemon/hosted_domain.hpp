// A domain that lives as long as this object.
#pragma once

#include <sys/resource.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/late_programs.hpp"
#include "daemon/mounts.hpp"
#include "domain/domain.hpp"
#include "event/pattern.hpp"
#include "host/server.hpp"
#include "ipc/tree_client.hpp"
#include "probes/publisher.hpp"

namespace landtrace::daemon {

// How many descriptors this process may have. An owner needs some for each client. The usual soft limit is low only
// for the sake of programs that use select().
class DescriptorLimit {
 public:
  DescriptorLimit();
  ~DescriptorLimit() { restore(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  // To the hard limit.
  void raise();
  // To what it was: for programs that are started from here.
  void restore();

 private:
  rlimit before_{};
};

class HostedDomain {
 public:
  struct Options {
    std::string socket;
    std::uint64_t ring_bytes = domain::kDefaultRingBytes;
    unsigned abi = kAbi6_12;
    // Enabled in the top instance from the moment they register.
    std::vector<event::Pattern> events{};
    Mounts::Permissions permissions{};
    // Another owner may serve the same socket later, and go on with what programs have registered.
    bool may_come_back = false;
    // Members of permissions.gid may record.
    bool group_records = false;
    // A listening socket at that place which this process was given; taken over. -1: it makes one itself.
    int listener = -1;
    // What is loaded into programs for probes; "": programs that are there before there are any are left alone.
    std::string agent{};
    // Is told which of those programs that did not go into, and what an earlier owner's journal has lost.
    LatePrograms::Tell tell{};
  };
  static constexpr unsigned kAbi6_1 = 601, kAbi6_12 = 612;

  // What has to be there before anybody else looks, by a client that is let in before all others.
  using Prepare = std::function<Result<void>(HostedDomain&, ipc::TreeClient)>;

  // Serves a new domain from a thread of its own, which inherits the caller's signal mask. EADDRINUSE: there is an
  // owner already.
  static Result<std::unique_ptr<HostedDomain>> start(const Options& options, const Prepare& prepare = nullptr);
  // Unmounts it. Every program that is attached sees its events disabled.
  ~HostedDomain();
  HostedDomain(const HostedDomain&) = delete;
  HostedDomain& operator=(const HostedDomain&) = delete;

  [[nodiscard]] const std::string& path() const { return server_->path(); }
  [[nodiscard]] DescriptorLimit& descriptors() { return descriptors_; }
  [[nodiscard]] Mounts& mounts() { return mounts_; }

 private:
  HostedDomain(std::unique_ptr<domain::Domain> domain, std::unique_ptr<rules::Rules> rules,
               std::unique_ptr<probes::Publisher> publisher, std::unique_ptr<host::Server> server,
               const Options& options);
  Result<void> prepare_alone(const Prepare& prepare);
  void serve();

  DescriptorLimit descriptors_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<probes::Publisher> publisher_;
  std::unique_ptr<host::Server> server_;  // has the tree that is mounted
  Mounts mounts_;
  LatePrograms late_programs_;
  std::thread thread_;
};

// "6.1" or "6.12", as Options::abi. EINVAL.
Result<unsigned> parse_abi(std::string_view text);

}  // namespace landtrace::daemon
