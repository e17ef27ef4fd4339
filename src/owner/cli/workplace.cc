#include "cli/workplace.hpp"

#include <unistd.h>

#include "cli/domain_choice.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/private_tracefs.hpp"
#include "ipc/path.hpp"

namespace landtrace::cli {

using daemon::HostedDomain;

Result<Workplace> Workplace::find(bool for_command, std::uint64_t ring_bytes) {
  Workplace place;
  const std::string agent = find_agent().value_or("");
  const auto tell = [texts = place.unattached_](const std::string& text) { texts->add(text); };
  if (for_command) {
    LT_TRY(place.preload_, find_preload());
    LT_TRY(const std::string folder, ipc::runtime_folder());
    place.socket_ = fmt::format("{}/record-{}.sock", folder, ::getpid());
    LT_TRY(place.hosted_,
           HostedDomain::start({.socket = place.socket_, .ring_bytes = ring_bytes, .agent = agent, .tell = tell}));
  } else {
    const ChosenDomain domain = choose_domain("");
    place.socket_ = domain.socket;
    place.why_ = domain.why == ChosenDomain::Why::kOwn ? "" : ", " + why_text(domain);
  }
  auto view = consumer::DomainView::connect(place.socket_);
  if (!view && !for_command && (view.error().code == ENOENT || view.error().code == ECONNREFUSED)) {
    LT_CHECK(ipc::runtime_folder());
    LT_TRY(
        place.hosted_,
        HostedDomain::start(
            {.socket = place.socket_, .ring_bytes = ring_bytes, .may_come_back = true, .agent = agent, .tell = tell}));
    view = consumer::DomainView::connect(place.socket_);
  }
  if (!view) return tl::unexpected<Error>(std::move(view).error());
  place.view_ = std::make_unique<consumer::DomainView>(*std::move(view));
  return place;
}

Result<consumer::Session> Workplace::open_session(const consumer::Session::Options& rings) {
  auto session = consumer::Session::open(*view_, rings);
  if (!session && session.error().code == EPERM) {
    session.error().message = fmt::format(
        "{}: {} (its --group; with the package's units `adduser USER tracing`); `landtraced` serves a domain of your "
        "own, to programs that start then",
        text(), session.error().message);
  }
  return session;
}

Result<Child> Workplace::start(const std::vector<std::string>& command, bool tracefs, const sigset_t& mask,
                               Child::Output output) {
  hosted_->descriptors().restore();
  auto started = tracefs ? Child::start(tracefs_command(socket_, Ids::kSame, command), own_environment(), mask, output)
                         : Child::start(command, traced_environment(socket_, preload_), mask, output);
  hosted_->descriptors().raise();
  return started;
}

int status_of_spawn_error(const Error& error) { return error.code == ENOENT ? kNotFound : kCannotExecute; }

}  // namespace landtrace::cli
