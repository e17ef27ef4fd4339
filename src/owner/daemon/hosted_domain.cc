#include "daemon/hosted_domain.hpp"

#include <sys/stat.h>

#include "ipc/path.hpp"
#include "rules/selection.hpp"

namespace landtrace::daemon {

namespace {

std::uint64_t inode_of(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 ? st.st_ino : 0;
}

}  // namespace

DescriptorLimit::DescriptorLimit() {
  ::getrlimit(RLIMIT_NOFILE, &before_);
  raise();
}

void DescriptorLimit::raise() {
  const rlimit all{before_.rlim_max, before_.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &all);
}

void DescriptorLimit::restore() { ::setrlimit(RLIMIT_NOFILE, &before_); }

Result<unsigned> parse_abi(std::string_view text) {
  if (text == "6.1") return HostedDomain::kAbi6_1;
  if (text == "6.12") return HostedDomain::kAbi6_12;
  return fail(EINVAL, "ABI '" + std::string(text) + "': want 6.1 or 6.12");
}

Result<std::unique_ptr<HostedDomain>> HostedDomain::start(const Options& options, const Prepare& prepare) {
  LT_TRY(std::unique_ptr<domain::Domain> domain,
         domain::Domain::create({.ring_bytes = options.ring_bytes,
                                 .abi = options.abi == kAbi6_1 ? abi::Version::k6_1 : abi::Version::k6_12}));
  auto rules = std::make_unique<rules::Rules>(*domain);
  for (const event::Pattern& pattern : options.events)
    LT_CHECK(rules->selections().listen(domain->top(), pattern, true));
  auto publisher = std::make_unique<probes::Publisher>(*domain, ipc::probes_mark(options.socket));
  rules->probes().observe(publisher.get());
  LT_TRY(std::unique_ptr<host::Server> server,
         host::Server::create(*domain, *rules, options.socket, Fd(options.listener)));
  // Only now is the place ours. Without a journal programs do not find their way to the next owner, which harms nobody.
  std::ignore = domain->succession().keep_journal(
      options.socket + ".state", options.may_come_back ? domain::Successor::kMayCome : domain::Successor::kNone);
  if (const std::string& damage = domain->succession().damage(); options.tell && !damage.empty()) {
    options.tell("programs that were here before may have to be started anew: " + damage);
  }
  std::unique_ptr<HostedDomain> hosted(
      new HostedDomain(std::move(domain), std::move(rules), std::move(publisher), std::move(server), options));
  if (prepare) {
    LT_CHECK(hosted->prepare_alone(prepare));
  } else {
    hosted->serve();
  }
  return hosted;
}

HostedDomain::HostedDomain(std::unique_ptr<domain::Domain> domain, std::unique_ptr<rules::Rules> rules,
                           std::unique_ptr<probes::Publisher> publisher, std::unique_ptr<host::Server> server,
                           const Options& options)
    : domain_(std::move(domain)),
      rules_(std::move(rules)),
      publisher_(std::move(publisher)),
      server_(std::move(server)),
      mounts_(*domain_, server_->tree(), options.permissions),
      late_programs_(options.agent, options.socket, inode_of(domain_->control().fd()), options.tell) {
  publisher_->set_on_first([this] { late_programs_.attach_all(); });
  server_->set_mounter([this](host::MountOffer offer) { return mounts_.serve(std::move(offer)); }, options.abi);
  if (options.group_records && options.permissions.gid) server_->set_group(*options.permissions.gid);
}

void HostedDomain::serve() {
  thread_ = std::thread([this] { server_->run(); });
}

Result<void> HostedDomain::prepare_alone(const Prepare& prepare) {
  LT_TRY(Fd client, server_->keep_out());
  serve();
  LT_CHECK(prepare(*this, ipc::TreeClient::over(std::move(client))));
  return server_->let_in();
}

HostedDomain::~HostedDomain() {
  mounts_.end();
  server_->stop();
  if (thread_.joinable()) thread_.join();
  rules_->probes().observe(nullptr);
}

}  // namespace landtrace::daemon
