#include "daemon/metrics_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "base/child_end.hpp"
#include "base/end_with_parent.hpp"
#include "base/spawn_settings.hpp"

namespace landtrace::daemon {
namespace {

constexpr int kBacklog = 64;
constexpr mode_t kNotForOthers = 0117;

struct Address {
  std::string host;
  std::string port;
};

// "HOST:PORT" or "[V6]:PORT".
std::optional<Address> parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  Address address{text.substr(0, colon), text.substr(colon + 1)};
  const bool in_brackets = address.host.front() == '[' && address.host.back() == ']';
  if (in_brackets) address.host = address.host.substr(1, address.host.size() - 2);
  const bool is_port = address.port.size() <= 5 && address.port.find_first_not_of("0123456789") == std::string::npos &&
                       std::stoul(address.port) <= 65535;
  if (!is_port || address.host.empty() || (!in_brackets && address.host.find(':') != std::string::npos)) {
    return std::nullopt;
  }
  return address;
}

struct Listening {
  Fd fd;
  std::string place;
};

std::string place_of(int socket, const std::string& host) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  const bool is_v6 = bound.ss_family == AF_INET6;
  const in_port_t port = is_v6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                               : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return fmt::format("http://{}:{}/metrics", host.find(':') == std::string::npos ? host : "[" + host + "]",
                     ntohs(port));
}

Result<Listening> listen_at_host(const std::string& text) {
  const auto address = parse(text);
  if (!address) return fail(EINVAL, fmt::format("--metrics: want HOST:PORT or /PATH, not '{}'", text));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address->host.c_str(), address->port.c_str(), &hints, &found); code != 0) {
    return fail(EADDRNOTAVAIL, fmt::format("--metrics {}: {}", text, ::gai_strerror(code)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  Fd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const bool listens = socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                       ::bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
                       ::listen(socket.get(), kBacklog) == 0;
  if (!listens) return fail_errno("--metrics " + text);
  std::string place = place_of(socket.get(), address->host);
  return Listening{std::move(socket), std::move(place)};
}

// Whether nobody listens at the socket any more.
bool is_left_over(const sockaddr_un& name) {
  struct stat there {};
  if (::lstat(name.sun_path, &there) != 0 || !S_ISSOCK(there.st_mode)) return false;
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe && ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
         errno == ECONNREFUSED;
}

Result<Listening> listen_at_path(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) return fail(ENAMETOOLONG, "--metrics " + path + ": the path is too long");
  std::memcpy(name.sun_path, path.c_str(), path.size());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail_errno("--metrics " + path);
  const mode_t before = ::umask(kNotForOthers);
  const auto* const address = reinterpret_cast<const sockaddr*>(&name);
  bool is_bound = ::bind(socket.get(), address, sizeof name) == 0;
  if (!is_bound && errno == EADDRINUSE && is_left_over(name)) {
    ::unlink(path.c_str());
    is_bound = ::bind(socket.get(), address, sizeof name) == 0;
  }
  ::umask(before);
  if (!is_bound || ::listen(socket.get(), kBacklog) != 0) return fail_errno("--metrics " + path);
  return Listening{std::move(socket), path};
}

}  // namespace

Result<void> MetricsProgram::check(const Options& options) {
  for (const std::string& address : options.addresses) {
    if (!address.starts_with('/') && !parse(address)) {
      return fail(EINVAL, fmt::format("--metrics: want HOST:PORT or /PATH, not '{}'", address));
    }
  }
  const std::string& url = options.push_url;
  if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://")) {
    return fail(EINVAL, fmt::format("--metrics-push: want http://HOST:PORT/v1/metrics, not '{}'", url));
  }
  if (!options.counted.empty() && !options.is_wanted()) {
    return fail(EINVAL, "--metrics-events: nobody gets them without --metrics or --metrics-push");
  }
  if (options.push_interval_s == 0 || options.push_interval_s > 86400) {
    return fail(EINVAL, "--metrics-interval: want 1 to 86400 seconds");
  }
  return {};
}

Result<MetricsProgram> MetricsProgram::start(const std::string& program, const std::string& socket,
                                             const Options& options) {
  MetricsProgram made;
  std::vector<Fd> listening;
  for (const std::string& address : options.addresses) {
    const bool is_path = address.starts_with('/');
    LT_TRY(Listening at, is_path ? listen_at_path(address) : listen_at_host(address));
    if (is_path) made.paths_.push_back(address);
    made.places_.push_back(std::move(at.place));
    listening.push_back(std::move(at.fd));
  }
  std::vector<std::string> words{"landtrace-metrics", socket, options.push_url, std::to_string(options.push_interval_s),
                                 fmt::format("{}", fmt::join(options.counted, ","))};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  made.output_ = Fd(ends[0]);
  const Fd output(ends[1]);
  SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.files, output.get(), STDOUT_FILENO);
  for (const Fd& fd : listening) {
    words.push_back(std::to_string(fd.get()));
    // Onto itself: it is kept open.
    ::posix_spawn_file_actions_adddup2(&settings.files, fd.get(), fd.get());
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> variables{parent_variable()};
  const int code = ::posix_spawn(&made.pid_, program.c_str(), &settings.files, &settings.attributes, arguments.data(),
                                 environment_with(variables).data());
  if (code == 0) return made;
  made.pid_ = -1;
  if (code != ENOENT) return fail(code, fmt::format("{} does not start: {}", program, errno_text(code)));
  return fail(ENOENT,
              fmt::format("{} is not installed: Landtrace was built without libmicrohttpd and libcurl", program));
}

MetricsProgram::MetricsProgram(MetricsProgram&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      places_(std::move(other.places_)),
      paths_(std::move(other.paths_)) {
  other.paths_.clear();
}

MetricsProgram::~MetricsProgram() {
  for (const std::string& path : paths_) ::unlink(path.c_str());
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  wait_for_end(pid_);
}

bool MetricsProgram::serves() const {
  char word = 0;
  ssize_t got = 0;
  while ((got = ::read(output_.get(), &word, 1)) < 0 && errno == EINTR) {
  }
  return got > 0;
}

bool MetricsProgram::has_ended() {
  if (pid_ < 0 || !status_at_end(pid_)) return false;
  pid_ = -1;
  return true;
}

}  // namespace landtrace::daemon
