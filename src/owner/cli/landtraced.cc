// The landtraced program: serves a domain until it is told to stop.
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string_view>

#include "cli/environment.hpp"
#include "cli/events_file.hpp"
#include "cli/failure.hpp"
#include "cli/full_path.hpp"
#include "cli/settings.hpp"
#include "cli/signals.hpp"
#include "daemon/activation.hpp"
#include "daemon/background.hpp"
#include "daemon/fleet_program.hpp"
#include "daemon/notify.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::cli;

constexpr const char* kExamples =
    "Examples:\n"
    "  landtraced                                      serves the user's domain\n"
    "  landtraced --mount ~/tracing --trace-event 'user_events:http_*'\n"
    "  landtraced --metrics 127.0.0.1:9464             for Prometheus to scrape\n"
    "  landtraced --fleet nats://control:4222 --fleet-labels role=web,zone=a\n"
    "  landtraced --system --group tracing --mount /sys/kernel/tracing";

Result<void> mount_all(daemon::HostedDomain& hosted, const Settings& settings) {
  for (const std::string& folder : settings.mounts) {
    LT_TRY([[maybe_unused]] const Fd watch, hosted.mounts().mount(full_path(folder), settings.allow_other));
  }
  return {};
}

Result<std::vector<EventsFile>> read_events_files(const Settings& settings) {
  std::vector<EventsFile> files;
  for (const std::string& path : settings.events_files) {
    LT_TRY(EventsFile file, read_events_file(full_path(path)));
    files.push_back(std::move(file));
  }
  return files;
}

// As the kernel does at boot: what is refused is said, and the rest is there.
Result<void> define_all(ipc::TreeClient domain, const std::vector<EventsFile>& files) {
  if (files.empty()) return {};
  LT_TRY(const std::vector<std::string> refused, define_events(std::move(domain), files));
  for (const std::string& why : refused) complain(why);
  return {};
}

using Metrics = std::optional<daemon::MetricsProgram>;

void tell_of_end(Metrics& metrics) {
  if (metrics && metrics->has_ended()) complain("landtrace-metrics has ended: metrics are not served any more");
}

// Until it serves, or is not heard of for ten seconds. ECANCELED: a signal came that ends this program.
Result<void> wait_until_served(Signals& signals, const daemon::MetricsProgram& metrics) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(10);
  for (;;) {
    pollfd output{metrics.output().get(), 0, 0};
    if (::poll(&output, 1, 0) > 0) break;
    if (Clock::now() >= end) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const auto arrived = signals.wait(std::max(1, static_cast<int>(left.count())), output.fd);
    if (arrived && arrived->number != SIGCHLD) return fail(ECANCELED, "a signal came");
  }
  if (!metrics.serves()) return fail(ECHILD, "--metrics: landtrace-metrics has ended before it served");
  return {};
}

// Served as long as the domain is; a port that is chosen by the system is said. ECANCELED: a signal came that ends this
// program.
Result<void> serve_metrics(const Settings& settings, const std::string& socket, Signals& signals, Metrics& metrics) {
  if (!settings.metrics.is_wanted()) return {};
  LT_TRY(const std::string program, find_helper("landtrace-metrics"));
  LT_TRY(daemon::MetricsProgram started, daemon::MetricsProgram::start(program, socket, settings.metrics));
  metrics.emplace(std::move(started));
  LT_CHECK(wait_until_served(signals, *metrics));
  for (std::size_t i = 0; i < metrics->places().size(); ++i) {
    if (settings.metrics.addresses[i].ends_with(":0")) complain("metrics are at " + metrics->places()[i]);
  }
  return {};
}

using Fleet = std::optional<daemon::FleetProgram>;

Result<void> join_fleet(const Settings& settings, const std::string& socket, Fleet& fleet) {
  if (!settings.fleet.is_wanted()) return {};
  LT_TRY(const std::string program, find_helper("landtrace-fleet"));
  LT_TRY(const fleet::AgentOptions options, agent_options(settings, socket));
  LT_TRY(daemon::FleetProgram started, daemon::FleetProgram::start(program, options));
  fleet.emplace(std::move(started));
  return {};
}

// An agent that ends is started again: after a second, and each time twice as long.
void wait_for_end(Signals& signals, Metrics& metrics, Fleet& fleet, const std::function<Result<void>()>& join) {
  using Clock = std::chrono::steady_clock;
  constexpr int kFirstPause_ms = 1000, kLongestPause_ms = 64'000;
  constexpr auto kSoundLife = std::chrono::minutes(1);
  int pause_ms = kFirstPause_ms;
  bool has_left = false;
  auto joined_at = Clock::now();
  tell_of_end(metrics);  // meanwhile
  for (;;) {
    const auto arrived = signals.wait(has_left ? pause_ms : Signals::kForEver);
    if (arrived && arrived->number != SIGCHLD) return;
    if (has_left && !arrived) {
      pause_ms = std::min(2 * pause_ms, kLongestPause_ms);
      fleet.reset();
      auto joined = join();
      // Files that are just being exchanged, memory that is short: it may work the next time.
      has_left = !joined;
      if (!joined) complain(fmt::format("{}: tried again in {} s", sentence(joined.error()), pause_ms / 1000));
      joined_at = Clock::now();
    }
    tell_of_end(metrics);
    if (!fleet || !fleet->has_ended()) continue;
    complain("landtrace-fleet has ended " + fleet->how_it_ended() + ": it is started again");
    has_left = true;
    if (Clock::now() - joined_at >= kSoundLife) pause_ms = kFirstPause_ms;
  }
}

int serve(const Settings& settings) {
  auto options = check_settings(settings);
  if (!options) return fail_with(kBadUse, sentence(options.error()));
  auto socket = socket_of(settings);
  if (!socket) return fail_with(kFailure, sentence(socket.error()));
  options->socket = full_path(*socket);
  auto listener = daemon::activated_socket(options->socket);
  if (!listener) return fail_with(kFailure, sentence(listener.error()));
  const auto events = read_events_files(settings);
  if (!events) return fail_with(events.error());
  std::optional<daemon::Background> background;
  if (settings.daemonize) {
    auto entered = daemon::Background::enter();
    if (!entered) return fail_with(kFailure, sentence(entered.error()));
    background.emplace(*std::move(entered));
  }
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  options->may_come_back = true;
  options->listener = listener->release();
  options->agent = find_agent().value_or("");
  options->tell = complain;
  const auto prepare = [&](daemon::HostedDomain& domain, ipc::TreeClient client) -> Result<void> {
    LT_CHECK(define_all(std::move(client), *events));
    return mount_all(domain, settings);
  };
  const auto hosted = daemon::HostedDomain::start(*options, prepare);
  if (!hosted) return fail_with(kFailure, sentence(hosted.error()));
  Metrics metrics;
  if (auto served = serve_metrics(settings, (*hosted)->path(), *signals, metrics); !served) {
    if (served.error().code == ECANCELED) return kSuccess;
    return fail_with(kFailure, sentence(served.error()));
  }
  Fleet fleet;
  const auto join = [&] { return join_fleet(settings, (*hosted)->path(), fleet); };
  if (auto joined = join(); !joined) return fail_with(kFailure, sentence(joined.error()));
  daemon::notify_service_manager("READY=1");
  if (background) background->ready();
  wait_for_end(*signals, metrics, fleet, join);
  daemon::notify_service_manager("STOPPING=1");
  return kSuccess;
}

int parse_and_serve(int argc, char** argv) {
  const bool system =
      std::any_of(argv + 1, argv + argc, [](const char* word) { return word == std::string_view("--system"); });
  Settings settings;
  Program program("landtraced", "Serves a domain of trace events.", LANDTRACE_VERSION);
  add_settings(program.itself(), settings, default_config(system));
  program.itself().examples(kExamples);
  program.itself().runs([&settings] { return serve(settings); });
  return program.run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  program_name = "landtraced";
  survive_file_limit();
  try {
    return parse_and_serve(argc, argv);
  } catch (const std::exception& error) {
    return fail_with(kFailure, error.what());
  }
}
