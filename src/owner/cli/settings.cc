#include "cli/settings.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "cli/quantity.hpp"
#include "event/pattern.hpp"
#include "fleet/labels.hpp"
#include "ipc/path.hpp"

namespace landtrace::cli {
namespace {

constexpr unsigned kModeBits = 0777;
constexpr mode_t kSystemFolderMode = 0755;

template <typename T>
std::optional<T> whole_number(const std::string& text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

Result<std::uint32_t> group_of(const std::string& name) {
  if (const auto gid = whole_number<std::uint32_t>(name, 10)) return *gid;
  const struct group* const found = ::getgrnam(name.c_str());
  if (found == nullptr) return fail(EINVAL, "--group: there is no group '" + name + "'");
  return std::uint32_t{found->gr_gid};
}

Result<unsigned> mode_of(const std::string& text) {
  const auto mode = whole_number<unsigned>(text, 8);
  if (!mode || *mode > kModeBits) return fail(EINVAL, "--mode: want octal permissions, as 0750, not '" + text + "'");
  return *mode;
}

// The kernel's trace_event= is one list with commas.
Result<std::vector<event::Pattern>> patterns_of(const std::vector<std::string>& lists) {
  std::vector<event::Pattern> patterns;
  for (std::string_view list : lists) {
    while (!list.empty()) {
      const std::size_t end = list.find(',');
      if (end != 0) {
        LT_TRY(event::Pattern pattern, event::Pattern::parse(list.substr(0, end)));
        patterns.push_back(std::move(pattern));
      }
      list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
  }
  return patterns;
}

void add_fleet_settings(Command& command, FleetSettings& fleet) {
  command.option("--fleet", fleet.address.servers, "Be one of many hosts: servers of NATS, with commas",
                 {.type = "nats://HOST:PORT"});
  command.option("--fleet-labels", fleet.labels, "What this host is told apart by: role=web,zone=a",
                 {.type = "NAME=VALUE,...", .needs = "--fleet"});
  command.option("--fleet-host", fleet.host, "The host's name there; without it, the machine's",
                 {.type = "NAME", .needs = "--fleet"});
  command.option("--fleet-creds", fleet.address.creds, "The user there: a file with a JWT and a seed",
                 {.type = "FILE", .needs = "--fleet"});
  command.option("--fleet-ca", fleet.address.ca, "TLS: the certificates that servers are trusted by",
                 {.type = "FILE", .needs = "--fleet"});
  command.option("--fleet-cert", fleet.address.cert, "TLS: this host's certificate",
                 {.type = "FILE", .needs = "--fleet"});
  command.option("--fleet-key", fleet.address.key, "… and its key", {.type = "FILE", .needs = "--fleet-cert"});
  command.repeated_list("--fleet-redact", fleet.left_out, "Fields that are left out of what is sent, with commas",
                        {.type = "FIELD,...", .needs = "--fleet"});
  command.repeated_list("--fleet-histograms", fleet.histograms,
                        "Send histograms that users have set up here, too: of which events ('*:*': all)",
                        {.type = "EVENT,...", .needs = "--fleet"});
  command.option("--fleet-trust", fleet.trust, "Take orders alone that one of the keys in this file has signed",
                 {.type = "FILE", .needs = "--fleet"});
  command.option("--fleet-interval", fleet.interval_s, "Send what was counted every so many seconds",
                 {.type = "SECONDS", .shows_default = true});
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// One user may serve several: those with a socket of their own have it in their name.
std::string domain_name(const Settings& settings, const std::string& socket) {
  const std::string name = settings.system ? "system" : "user-" + std::to_string(::geteuid());
  const std::string usual = settings.system ? ipc::kSystemSocket : ipc::user_socket();
  const bool is_usual = settings.socket.empty() || socket == usual;
  return is_usual ? name : name + ":" + socket;
}

}  // namespace

void add_settings(Command& command, Settings& settings, const std::string& config) {
  command.reads_config(config);
  command.flag("--system", settings.system, "Serve all users of the machine, as root");
  command.option("--socket", settings.socket, "Socket to serve the domain at", {.type = "PATH"});
  command.repeated("--mount", settings.mounts, "Folder at which the files appear; may be repeated", {.type = "DIR"});
  command.flag("--allow-other", settings.allow_other, "Let other users reach what a user mounts");
  command.option("--group,--gid", settings.group, "Group that the files belong to, and that may record",
                 {.type = "NAME"});
  command.option("--mode", settings.mode, "Permissions of the mounted folder", {.type = "MODE"});
  command.option("--abi", settings.abi, "Which kernel's user_events_status the files have: 6.1 or 6.12",
                 {.shows_default = true});
  command.option("--buffer-size", settings.buffer_size, "Buffer per CPU of the trace files, with K, M or G",
                 {.type = "SIZE", .shows_default = true});
  command.repeated("--trace-event", settings.trace_event,
                   "Events to enable from the moment they register: SYSTEM:EVENT, SYSTEM:* or a name, with commas",
                   {.type = "LIST"});
  command.repeated("--events-file", settings.events_files,
                   "File of events to define at the beginning, one a line, as dynamic_events takes them",
                   {.type = "FILE"});
  command.repeated("--metrics", settings.metrics.addresses,
                   "Serve metrics over HTTP, as Prometheus reads them; may be repeated", {.type = "HOST:PORT|/PATH"});
  command.option("--metrics-push", settings.metrics.push_url, "Send metrics to a collector, as OTLP over HTTP",
                 {.type = "URL"});
  command.option("--metrics-interval", settings.metrics.push_interval_s, "… every so many seconds",
                 {.type = "SECONDS", .shows_default = true});
  command.repeated("--metrics-events", settings.metrics.counted,
                   "Count these events by name, for metrics: SYSTEM:EVENT with globs, with commas", {.type = "LIST"});
  add_fleet_settings(command, settings.fleet);
  command.flag("--daemonize", settings.daemonize, "Go into the background when everything is served");
}

std::string default_config(bool system) {
  if (system) return "/etc/landtrace/landtraced.conf";
  if (const char* const folder = ::secure_getenv("XDG_CONFIG_HOME"); folder != nullptr && folder[0] == '/') {
    return std::string(folder) + "/landtrace/landtraced.conf";
  }
  const char* const home = ::secure_getenv("HOME");
  return std::string(home == nullptr ? "" : home) + "/.config/landtrace/landtraced.conf";
}

Result<std::string> socket_of(const Settings& settings) {
  if (!settings.system) {
    if (!settings.socket.empty()) return settings.socket;
    LT_CHECK(ipc::runtime_folder());
    return ipc::user_socket();
  }
  if (::geteuid() != 0) return fail(EPERM, "--system: only root can serve all users");
  if (!settings.socket.empty()) return settings.socket;
  if (::mkdir(ipc::kSystemFolder, kSystemFolderMode) != 0 && errno != EEXIST) {
    return fail_errno(std::string("mkdir ") + ipc::kSystemFolder);
  }
  return std::string(ipc::kSystemSocket);
}

Result<fleet::AgentOptions> agent_options(const Settings& settings, const std::string& socket) {
  constexpr std::uint64_t kMostSeconds = 3600;
  const FleetSettings& fleet = settings.fleet;
  LT_CHECK(fleet::servers_of(fleet.address.servers));
  if (const auto labels = fleet::parse_labels(fleet.labels); !labels) {
    return fail(EINVAL, "--fleet-" + labels.error().message);
  }
  if (fleet.interval_s == 0 || fleet.interval_s > kMostSeconds) {
    return fail(EINVAL, "--fleet-interval: want 1 to 3600 seconds");
  }
  for (const std::string& pattern : fleet.histograms) {
    if (auto parsed = event::Pattern::parse(pattern); !parsed) {
      return fail(EINVAL, "--fleet-histograms: " + parsed.error().message);
    }
  }
  if (fleet.address.cert.empty() != fleet.address.key.empty()) {
    return fail(EINVAL, "--fleet-cert: want --fleet-key, too");
  }
  for (const std::string* const file : {&fleet.address.creds, &fleet.address.ca, &fleet.address.cert, &fleet.trust}) {
    if (!file->empty() && ::access(file->c_str(), R_OK) != 0) return fail_errno("--fleet: " + *file);
  }
  return fleet::AgentOptions{.socket = socket,
                             .address = fleet.address,
                             .host = fleet.host.empty() ? machine_name() : fleet.host,
                             .domain = domain_name(settings, socket),
                             .labels = fleet.labels,
                             .version = LANDTRACE_VERSION,
                             .left_out = fleet.left_out,
                             .histograms = fleet.histograms,
                             .trust = fleet.trust,
                             .interval_ms = fleet.interval_s * 1000};
}

Result<daemon::HostedDomain::Options> check_settings(const Settings& settings) {
  daemon::HostedDomain::Options options;
  LT_TRY(options.abi, daemon::parse_abi(settings.abi));
  LT_TRY(options.ring_bytes, parse_buffer_size(settings.buffer_size));
  LT_TRY(options.events, patterns_of(settings.trace_event));
  if (!settings.group.empty()) {
    LT_TRY(options.permissions.gid, group_of(settings.group));
    options.group_records = true;
  }
  LT_CHECK(daemon::MetricsProgram::check(settings.metrics));
  LT_CHECK(patterns_of(settings.metrics.counted));
  if (settings.fleet.is_wanted()) LT_CHECK(agent_options(settings, ""));
  if (!settings.mode.empty()) {
    LT_TRY(options.permissions.root_mode, mode_of(settings.mode));
  }
  return options;
}

}  // namespace landtrace::cli
