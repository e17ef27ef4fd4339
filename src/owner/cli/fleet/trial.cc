#include "cli/fleet/trial.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/child.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/fleet/trial_store.hpp"
#include "cli/signals.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kLog = "/nats-server.log";
constexpr int kTry_ms = 50;
constexpr int kMostTries = 200;

std::string default_store() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/landtrace/fleet";
  const char* const home = std::getenv("HOME");
  return std::string(home == nullptr ? "/var/tmp" : home) + "/.local/state/landtrace/fleet";
}

struct Place {
  std::string host;
  std::string port;
};

Result<Place> place_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool is_good = colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
                       text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!is_good) return fail(EINVAL, "--listen: want ADDRESS:PORT, not '" + text + "'");
  return Place{text.substr(0, colon), text.substr(colon + 1)};
}

void print_how_to_join(const Place& place, const std::string& folder, const std::string& store) {
  const bool is_any = place.host == "0.0.0.0";
  const std::string url = "nats://" + (is_any ? std::string("127.0.0.1") : place.host) + ":" + place.port;
  TextOutput out;
  out.text() += fmt::format(
      "a fleet is at {}, until ^C; what it keeps is in {}\n"
      "{}\n"
      "a host joins it:  landtraced --fleet {} --fleet-labels role=web,zone=a\n"
      "then:             export LANDTRACE_FLEET={}\n"
      "                  landtrace fleet hosts\n",
      url, folder,
      store.empty() ? "what was counted when is in the collector's memory (clickhouse-server is not installed)"
                    : "what was counted when is in a store at " + store,
      url, url);
  if (is_any) out.text() += "anybody who reaches this port may give orders: docs/fleet.md has users and TLS\n";
  out.flush();
}

void end(Child& child) {
  if (!child.has_ended()) child.send(SIGTERM);
  for (int i = 0; i < kMostTries && !child.has_ended(); ++i) ::usleep(kTry_ms * 1000);
}

// None where there is no server, and where Landtrace was built without what it takes to speak to one.
Result<std::optional<TrialStore>> start_store(const FleetHelper& helper, const fleet::Address& address,
                                              const std::string& folder, const sigset_t& mask) {
  fleet::CollectOptions options;
  options.address = address;
  options.store = "clickhouse://127.0.0.1";
  if (!helper.collector(options)) return std::optional<TrialStore>();
  return TrialStore::start(folder, mask);
}

Result<Child> start_collector(const FleetHelper& helper, const fleet::Address& address,
                              const std::optional<TrialStore>& store, const sigset_t& mask) {
  fleet::CollectOptions options;
  options.address = address;
  if (store) options.store = store->address();
  LT_TRY(const std::vector<std::string> command, helper.collector(options));
  return Child::start_bound(command, helper.environment(fleet::json_of(options)), mask);
}

}  // namespace

int run_trial(const FleetOptions& options) {
  const auto place = place_of(options.listen);
  if (!place) return fail_with(kBadUse, sentence(place.error()));
  fleet::Address address;
  address.servers = "nats://" + (place->host == "0.0.0.0" ? std::string("127.0.0.1") : place->host) + ":" + place->port;
  const auto helper = FleetHelper::find(address);
  if (!helper) return fail_with(kFailure, sentence(helper.error()));
  const std::string store = options.store.empty() ? default_store() : options.store;
  std::error_code error;
  std::filesystem::create_directories(store, error);
  if (error) return fail_with(kFailure, store + ": " + error.message());
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  auto server =
      Child::start_bound({"nats-server", "-js", "-sd", store, "-a", place->host, "-p", place->port, "-l", store + kLog},
                         own_environment(), signals->mask_before(), Child::Output::kDropped);
  if (!server) {
    return fail_with(kFailure, server.error().code == ENOENT
                                   ? "nats-server is not installed (Debian: apt install nats-server)"
                                   : "nats-server: " + sentence(server.error()));
  }
  // Until it answers.
  bool is_there = false;
  for (int i = 0; i < kMostTries && !is_there && !server->has_ended(); ++i) {
    is_there = helper->prepare().has_value();
    if (!is_there) ::usleep(kTry_ms * 1000);
  }
  if (!is_there) {
    end(*server);
    return fail_with(kFailure, "nats-server does not answer at " + options.listen + ": see " + store + kLog);
  }
  auto clickhouse = start_store(*helper, address, store + "/clickhouse", signals->mask_before());
  if (!clickhouse) {
    end(*server);
    return fail_with(kFailure, sentence(clickhouse.error()));
  }
  auto collector = start_collector(*helper, address, *clickhouse, signals->mask_before());
  if (!collector) {
    if (*clickhouse) end((*clickhouse)->server());
    end(*server);
    return fail_with(kFailure, sentence(collector.error()));
  }
  print_how_to_join(*place, store, *clickhouse ? (*clickhouse)->address() : "");
  int status = kSuccess;
  for (;;) {
    const auto arrived = signals->wait(Signals::kForEver);
    if (arrived && arrived->number != SIGCHLD) break;
    const bool has_lost_store = *clickhouse && (*clickhouse)->server().has_ended();
    if (!server->has_ended() && !collector->has_ended() && !has_lost_store) continue;
    status = fail_with(kFailure, server->has_ended() ? "nats-server has ended: see " + store + kLog
                                 : has_lost_store    ? "clickhouse-server has ended: see " + (*clickhouse)->log()
                                                     : "the collector has ended");
    break;
  }
  end(*collector);
  if (*clickhouse) end((*clickhouse)->server());
  end(*server);
  return status;
}

}  // namespace landtrace::cli
