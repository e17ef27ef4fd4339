// A domain that lives as long as this object.
#pragma once

#include <sys/resource.h>

#include <memory>
#include <string>
#include <thread>

#include "domain/domain.hpp"
#include "host/server.hpp"

namespace landtrace::cli {

// How many descriptors this process may have. An owner needs some for each of its clients, and the usual soft limit is
// there only for programs that use select().
class DescriptorLimit {
 public:
  DescriptorLimit();
  ~DescriptorLimit() { restore(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  // As many as the system allows.
  void raise();
  // As it was: for programs that are started from here.
  void restore();

 private:
  rlimit before_{};
};

class HostedDomain {
 public:
  // Serves a new domain at `path` from a thread of its own, which inherits the caller's signal mask.
  // EADDRINUSE when an owner is there.
  static Result<std::unique_ptr<HostedDomain>> start(const std::string& path, std::uint64_t ring_bytes);
  // Every program that is attached sees its events disabled.
  ~HostedDomain();
  HostedDomain(const HostedDomain&) = delete;
  HostedDomain& operator=(const HostedDomain&) = delete;

  [[nodiscard]] const std::string& path() const { return server_->path(); }
  [[nodiscard]] DescriptorLimit& descriptors() { return descriptors_; }

 private:
  HostedDomain(std::unique_ptr<domain::Domain> domain, std::unique_ptr<host::Server> server);

  DescriptorLimit descriptors_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
};

}  // namespace landtrace::cli
