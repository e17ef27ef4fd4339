// The options of landtraced. Its configuration file has the same names.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "daemon/hosted_domain.hpp"
#include "daemon/metrics_program.hpp"
#include "fleet/address.hpp"

namespace landtrace::cli {

// Of --fleet and what belongs to it.
struct FleetSettings {
  fleet::Address address;
  std::string labels;
  std::string host;
  std::vector<std::string> left_out;
  std::vector<std::string> histograms;
  std::string trust;
  std::uint64_t interval_s = 10;

  [[nodiscard]] bool is_wanted() const { return !address.servers.empty(); }
};

struct Settings {
  bool system = false;
  bool daemonize = false;
  bool allow_other = false;
  std::string socket;
  std::string group;
  std::string mode;
  std::string abi = "6.12";
  std::string buffer_size = "1408K";
  std::vector<std::string> mounts;
  std::vector<std::string> trace_event;
  std::vector<std::string> events_files;
  daemon::MetricsProgram::Options metrics;
  FleetSettings fleet;
};

void add_settings(Command& command, Settings& settings, const std::string& config);

// The configuration file without --config: /etc/landtrace/landtraced.conf for --system, else the one in the user's
// configuration folder.
std::string default_config(bool system);

// Where the domain is to be served; makes the folder. EPERM for --system without root.
Result<std::string> socket_of(const Settings& settings);
// What the agent is told of these, where --fleet is given. EINVAL with a sentence.
Result<fleet::AgentOptions> agent_options(const Settings& settings, const std::string& socket);
// Checks all that can be checked before anything starts. EINVAL with a sentence that names the option.
Result<daemon::HostedDomain::Options> check_settings(const Settings& settings);

}  // namespace landtrace::cli
