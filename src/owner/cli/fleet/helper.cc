#include "cli/fleet/helper.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/child_end.hpp"
#include "base/fd.hpp"
#include "base/spawn_settings.hpp"
#include "cli/environment.hpp"
#include "cli/histogram/watch_options.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kServersVariable = "LANDTRACE_FLEET";
constexpr std::string_view kItsPrefix = "landtrace: fleet: ";

std::string all_of(int fd) {
  std::string text;
  std::array<char, 65536> some{};
  for (;;) {
    const ssize_t size = ::read(fd, some.data(), some.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(some.data(), static_cast<std::size_t>(size));
  }
}

// What a program writes, of which all is an error if it fails.
Result<std::string> output_of(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  const Fd read(ends[0]);
  Fd write(ends[1]);
  SpawnSettings settings;
  for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_adddup2(&settings.files, write.get(), to);
  }
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, words[0].c_str(), &settings.files, &settings.attributes,
                                 exec_array(words).data(), exec_array(environment).data());
  if (code != 0) return fail(code, words[0] + ": " + errno_text(code));
  write.reset();
  std::string text = all_of(read.get());
  const int status = wait_for_end(pid).value_or(0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  if (text.starts_with(kItsPrefix)) text.erase(0, kItsPrefix.size());
  return fail(EIO, text.empty() ? words[0] + " was ended" : text);
}

// One a line.
template <typename T>
Result<Listed<T>> parsed(const std::string& lines, Result<T> (*parse)(const std::string&)) {
  Listed<T> all;
  for (std::string_view rest = lines; !rest.empty();) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with(fleet::kRefusedLine)) {
      all.refused.push_back(line.substr(1));
      continue;
    }
    LT_TRY(T one, parse(line));
    all.entries.push_back(std::move(one));
  }
  return all;
}

}  // namespace

void add_fleet_address(Command& command, fleet::Address& address) {
  command.option("--fleet", address.servers, "Servers of NATS, with commas",
                 {.type = "nats://HOST:PORT", .default_text = "$LANDTRACE_FLEET, else this machine's"});
  add_fleet_user(command, address);
}

void add_fleet_user(Command& command, fleet::Address& address) {
  command.option("--fleet-creds", address.creds, "The user there: a file with a JWT and a seed", {.type = "FILE"});
  command.option("--fleet-ca", address.ca, "TLS: the certificates that servers are trusted by", {.type = "FILE"});
  command.option("--fleet-cert", address.cert, "TLS: one's own certificate", {.type = "FILE"});
  command.option("--fleet-key", address.key, "… and its key", {.type = "FILE", .needs = "--fleet-cert"});
}

Result<void> complete(fleet::Address& address) {
  const char* const told = std::getenv(fleet::kOptionsVariable);
  if (told != nullptr && address == fleet::Address()) {
    LT_TRY(address, fleet::address_of(told));
  }
  if (address.servers.empty()) {
    const char* const named = std::getenv(kServersVariable);
    address.servers = named != nullptr && named[0] != '\0' ? named : fleet::kDefaultServers;
  }
  LT_CHECK(fleet::servers_of(address.servers));
  return {};
}

Result<FleetHelper> FleetHelper::find(const fleet::Address& address) {
  LT_TRY(std::string program, find_helper("landtrace-fleet"));
  if (::access(program.c_str(), X_OK) != 0) {
    return fail(ENOENT, program + " is not installed: Landtrace was built without libnats (libnats-dev)");
  }
  return FleetHelper(std::move(program), address);
}

std::vector<std::string> FleetHelper::environment(const std::string& options) const {
  const std::string prefix = std::string(fleet::kOptionsVariable) + "=";
  std::vector<std::string> words = own_environment();
  std::erase_if(words, [&](const std::string& word) { return word.starts_with(prefix); });
  words.push_back(prefix + options);
  return words;
}

Result<std::vector<std::string>> FleetHelper::collector(const fleet::CollectOptions& options) const {
  if (options.store.empty()) return command("collect");
  LT_TRY(std::string program, find_helper("landtrace-collect"));
  if (::access(program.c_str(), X_OK) == 0) return std::vector<std::string>{std::move(program)};
  return fail(ENOENT, program + " is not installed: Landtrace was built without libcurl (libcurl4-openssl-dev)");
}

Result<std::string> FleetHelper::ask(const std::string& what, const std::vector<std::string>& words) const {
  std::vector<std::string> all = command(what);
  all.insert(all.end(), words.begin(), words.end());
  return output_of(all, environment());
}

Result<void> FleetHelper::prepare() const {
  LT_CHECK(ask("prepare"));
  return {};
}

Result<Listed<fleet::Status>> FleetHelper::hosts() const {
  LT_TRY(const std::string lines, ask("hosts"));
  return parsed(lines, fleet::status_of);
}

Result<Listed<fleet::Order>> FleetHelper::orders() const {
  LT_TRY(const std::string lines, ask("orders"));
  return parsed(lines, fleet::order_of);
}

Result<void> FleetHelper::put(const fleet::Order& order, const std::string& key) const {
  std::vector<std::string> words{order.id, fleet::json_of(order)};
  if (!key.empty()) words.push_back(key);
  LT_CHECK(ask("put", words));
  return {};
}

Result<void> FleetHelper::make_key(const std::string& file) const {
  LT_CHECK(ask("key", {file}));
  return {};
}

Result<void> FleetHelper::end(const std::vector<std::string>& ids) const {
  LT_CHECK(ask("end", ids));
  return {};
}

Result<std::vector<fleet::Frame>> FleetHelper::sums(const std::string& order,
                                                    const std::vector<std::string>& per) const {
  LT_TRY(const std::string bytes, ask("sums", {order, with_commas(per)}));
  return fleet::decode_frames(bytes);
}

Result<std::vector<fleet::Frame>> FleetHelper::own_sums(const std::string& event, const std::string& where,
                                                        const std::vector<std::string>& per) const {
  LT_TRY(const std::string bytes, ask("own", {event, where, with_commas(per)}));
  return fleet::decode_frames(bytes);
}

Result<fleet::History> FleetHelper::history(const fleet::HistoryQuestion& question) const {
  LT_TRY(const std::string bytes, ask("history", {fleet::json_of(question)}));
  return fleet::history_of(bytes);
}

}  // namespace landtrace::cli
