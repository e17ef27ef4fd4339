// A domain that lives as long as this object.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "domain/domain.hpp"
#include "host/server.hpp"

namespace landtrace::cli {

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

 private:
  HostedDomain(std::unique_ptr<domain::Domain> domain, std::unique_ptr<host::Server> server);

  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
};

}  // namespace landtrace::cli
