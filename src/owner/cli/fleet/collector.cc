#include "cli/fleet/collector.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "daemon/metrics_program.hpp"
#include "fleet/labels.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kMetricsProgram = "landtrace-fleet-metrics";

int fail_by(const Error& error) { return fail_with(error.code == EINVAL ? kBadUse : kFailure, sentence(error)); }

// Whether they make sense.
Result<void> complete_options(CollectWords& words) {
  constexpr std::uint64_t kNsPerDay = 86'400'000'000'000;
  fleet::CollectOptions& options = words.options;
  LT_CHECK(complete(options.address));
  if (!options.store.empty()) LT_CHECK(fleet::StoreAddress::parse(options.store));
  if (!words.keep.empty()) {
    LT_TRY(const std::uint64_t keep_ns, parse_duration("--keep", words.keep));
    options.keep_days = (keep_ns + kNsPerDay - 1) / kNsPerDay;
  }
  if (!words.memory.empty()) {
    auto memory = parse_size(words.memory);
    if (!memory) return fail(EINVAL, "--memory: " + sentence(memory.error()));
    options.memory = *memory;
  }
  LT_CHECK(daemon::MetricsProgram::check({.addresses = words.metrics, .push_url = ""}));
  if (words.metrics.empty() && !words.by.empty()) return fail(EINVAL, "--metrics-by: want --metrics, too");
  if (words.by.empty()) words.by = {fleet::kHostLabel};
  return {};
}

Result<daemon::MetricsProgram> start_metrics(const FleetHelper& fleet, const CollectWords& words) {
  LT_TRY(const std::string program, find_helper(kMetricsProgram));
  if (::access(program.c_str(), X_OK) != 0) {
    return fail(ENOENT, program + " is not installed: Landtrace was built without libmicrohttpd (libmicrohttpd-dev)");
  }
  ::setenv(fleet::kOptionsVariable, fleet::json_of(words.options.address).c_str(), 1);
  return daemon::MetricsProgram::start(program, fleet.command("follow").front(),
                                       {.addresses = words.metrics, .push_url = "", .counted = words.by});
}

// Metrics are served by a program beside it, which goes with the process that this becomes. With a store that is a
// program of its own.
int become_collector(const FleetHelper& fleet, const CollectWords& words) {
  const auto command = fleet.collector(words.options);
  if (!command) return fail_by(command.error());
  std::optional<daemon::MetricsProgram> metrics;
  if (!words.metrics.empty()) {
    auto started = start_metrics(fleet, words);
    if (!started) return fail_by(started.error());
    metrics.emplace(*std::move(started));
    for (const std::string& place : metrics->places()) complain("metrics are at " + place);
  }
  const std::vector<std::string> environment = fleet.environment(fleet::json_of(words.options));
  ::execve(command->front().c_str(), exec_array(*command).data(), exec_array(environment).data());
  return fail_with(kFailure, command->front() + ": " + errno_text(errno));
}

}  // namespace

int run_collect(CollectWords& words) {
  if (const auto sound = complete_options(words); !sound) return fail_by(sound.error());
  const auto fleet = FleetHelper::find(words.options.address);
  if (!fleet) return fail_by(fleet.error());
  return become_collector(*fleet, words);
}

}  // namespace landtrace::cli
