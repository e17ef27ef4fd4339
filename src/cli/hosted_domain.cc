#include "cli/hosted_domain.hpp"

namespace landtrace::cli {

DescriptorLimit::DescriptorLimit() {
  ::getrlimit(RLIMIT_NOFILE, &before_);
  raise();
}

void DescriptorLimit::raise() {
  const rlimit all{before_.rlim_max, before_.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &all);
}

void DescriptorLimit::restore() { ::setrlimit(RLIMIT_NOFILE, &before_); }

Result<std::unique_ptr<HostedDomain>> HostedDomain::start(const std::string& path, std::uint64_t ring_bytes) {
  LT_TRY(std::unique_ptr<domain::Domain> domain, domain::Domain::create({.ring_bytes = ring_bytes}));
  LT_TRY(std::unique_ptr<host::Server> server, host::Server::create(*domain, path));
  // Only now is the place ours. Without a journal programs do not find their way to the next owner, which harms nobody.
  std::ignore = domain->keep_journal(path + ".state");
  return std::unique_ptr<HostedDomain>(new HostedDomain(std::move(domain), std::move(server)));
}

HostedDomain::HostedDomain(std::unique_ptr<domain::Domain> domain, std::unique_ptr<host::Server> server)
    : domain_(std::move(domain)), server_(std::move(server)), thread_([this] { server_->run(); }) {}

HostedDomain::~HostedDomain() {
  server_->stop();
  thread_.join();
}

}  // namespace landtrace::cli
