#include "cli/fleet/collector.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "daemon/metrics_program.hpp"
#include "fleet/labels.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kMetricsProgram = "landtrace-fleet-metrics";

int fail_by(const Error& error) { return fail_with(error.code == EINVAL ? kBadUse : kFailure, sentence(error)); }

Result<daemon::MetricsProgram> start_metrics(const FleetHelper& fleet, const CollectOptions& options) {
  LT_TRY(const std::string program, find_helper(kMetricsProgram));
  if (::access(program.c_str(), X_OK) != 0) {
    return fail(ENOENT, program + " is not installed: Landtrace was built without libmicrohttpd (libmicrohttpd-dev)");
  }
  ::setenv(fleet::kOptionsVariable, fleet::json_of(options.address).c_str(), 1);
  return daemon::MetricsProgram::start(program, fleet.command("follow").front(),
                                       {.addresses = options.metrics, .push_url = "", .counted = options.by});
}

// Metrics are served by a program beside it, which goes with the process that this becomes.
int become_collector(const FleetHelper& fleet, const CollectOptions& options) {
  std::optional<daemon::MetricsProgram> metrics;
  if (!options.metrics.empty()) {
    auto started = start_metrics(fleet, options);
    if (!started) return fail_by(started.error());
    metrics.emplace(*std::move(started));
    for (const std::string& place : metrics->places()) complain("metrics are at " + place);
  }
  const std::vector<std::string> words = fleet.command("collect");
  const std::vector<std::string> environment = fleet.environment();
  ::execve(words[0].c_str(), exec_array(words).data(), exec_array(environment).data());
  return fail_with(kFailure, words[0] + ": " + errno_text(errno));
}

}  // namespace

int run_collect(CollectOptions& options) {
  if (auto completed = complete(options.address); !completed) return fail_by(completed.error());
  if (const auto sound = daemon::MetricsProgram::check({.addresses = options.metrics, .push_url = ""}); !sound) {
    return fail_by(sound.error());
  }
  if (options.metrics.empty() && !options.by.empty()) return fail_with(kBadUse, "--metrics-by: want --metrics, too");
  if (options.by.empty()) options.by = {fleet::kHostLabel};
  const auto fleet = FleetHelper::find(options.address);
  if (!fleet) return fail_by(fleet.error());
  return become_collector(*fleet, options);
}

}  // namespace landtrace::cli
