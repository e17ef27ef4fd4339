// landtrace-ui, the program that has the HTTP server in it: as this process, or beside it.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/child.hpp"
#include "cli/fleet/helper.hpp"

namespace landtrace::cli {

class UiPage {
 public:
  // Only where it cannot be: the sentence says why not.
  static Error become(const std::string& socket, const std::string& listen);

  // The same of a fleet.
  static Error become_fleets(const FleetHelper& fleet, const std::string& listen);

  // Starts it for a recording. It prints its address to standard error, and switches on what fits the patterns.
  static Result<UiPage> start(const std::string& socket, const std::string& listen,
                              const std::vector<std::string>& patterns, const sigset_t& mask);
  UiPage(UiPage&& other) noexcept : child_(std::exchange(other.child_, std::nullopt)) {}
  UiPage& operator=(UiPage&&) = delete;
  // Ends it. Its instance goes with the domain, or as its owner sees that it has ended.
  ~UiPage();

 private:
  explicit UiPage(Child child) : child_(child) {}

  std::optional<Child> child_;
};

}  // namespace landtrace::cli
