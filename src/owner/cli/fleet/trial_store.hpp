// The store of `landtrace fleet up`: a clickhouse-server of its own, where one is installed.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "cli/child.hpp"

namespace landtrace::cli {

class TrialStore {
 public:
  // Keeps all in that folder; listens on this machine alone. nullopt: clickhouse-server is not installed.
  static Result<std::optional<TrialStore>> start(const std::string& folder, const sigset_t& mask);

  [[nodiscard]] std::string address() const { return "clickhouse://127.0.0.1:" + std::to_string(port_) + "/landtrace"; }
  [[nodiscard]] Child& server() { return server_; }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  TrialStore(Child server, std::uint16_t port, std::string log)
      : server_(std::move(server)), port_(port), log_(std::move(log)) {}
  [[nodiscard]] bool answers() const;

  Child server_;
  std::uint16_t port_;
  std::string log_;
};

}  // namespace landtrace::cli
