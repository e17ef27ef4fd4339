// The program that serves the domain's metrics: what it needs of HTTP is in that one alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::daemon {

class MetricsProgram {
 public:
  struct Options {
    std::vector<std::string> addresses;  // "127.0.0.1:9464", "[::1]:9464", "/run/…" for a socket of that path
    std::string push_url;                // "": nothing is pushed
    std::uint64_t push_interval_s = 10;
    std::vector<std::string> counted = {};  // events that are counted by name: patterns, lists of them with commas

    [[nodiscard]] bool is_wanted() const { return !addresses.empty() || !push_url.empty(); }
  };

  // EINVAL with a sentence for what is no address or URL; looks at nothing else.
  static Result<void> check(const Options& options);

  // Listens at the addresses, then starts `program`, which asks the domain at `socket`. EADDRINUSE and the like with
  // the address. ENOENT where there is no such program.
  static Result<MetricsProgram> start(const std::string& program, const std::string& socket, const Options& options);
  ~MetricsProgram();
  MetricsProgram(MetricsProgram&& other) noexcept;
  MetricsProgram& operator=(MetricsProgram&&) = delete;
  MetricsProgram(const MetricsProgram&) = delete;

  // poll() says POLLHUP of it as soon as the program serves, or has ended. From then on events are counted.
  [[nodiscard]] const Fd& output() const { return output_; }
  // To be asked once, then: false, it has ended and has never served.
  [[nodiscard]] bool serves() const;
  // To be asked after SIGCHLD; true once.
  [[nodiscard]] bool has_ended();
  // Where it listens, with the ports that the system has chosen: "http://127.0.0.1:9464/metrics".
  [[nodiscard]] const std::vector<std::string>& places() const { return places_; }

 private:
  MetricsProgram() = default;

  pid_t pid_ = -1;
  Fd output_;  // its standard output, on which it says when it serves
  std::vector<std::string> places_;
  std::vector<std::string> paths_;  // of its sockets, which go with it
};

}  // namespace landtrace::daemon
