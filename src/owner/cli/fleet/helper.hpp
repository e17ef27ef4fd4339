// Asks landtrace-fleet, which speaks to the transport.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "fleet/address.hpp"
#include "fleet/frame.hpp"
#include "fleet/history.hpp"
#include "fleet/order.hpp"
#include "fleet/status.hpp"
#include "fleet/store_address.hpp"

namespace landtrace::cli {

// --fleet and those that belong to it; $LANDTRACE_FLEET where it is not given, and then this machine.
void add_fleet_address(Command& command, fleet::Address& address);
// The options beside --fleet alone.
void add_fleet_user(Command& command, fleet::Address& address);
// A program of ours that was told where the fleet is, as the page's is, hands that on to what it starts. EINVAL.
Result<void> complete(fleet::Address& address);

// What is there, and the names of what was left out: it makes no sense, or is another's than its name says.
template <typename T>
struct Listed {
  std::vector<T> entries = {};
  std::vector<std::string> refused = {};
};

class FleetHelper {
 public:
  // ENOENT with what to install.
  static Result<FleetHelper> find(const fleet::Address& address);

  // Makes what is kept there; whether somebody answers.
  Result<void> prepare() const;
  Result<Listed<fleet::Status>> hosts() const;
  Result<Listed<fleet::Order>> orders() const;
  // `key`: a file, with which the order is signed; "": it is not.
  Result<void> put(const fleet::Order& order, const std::string& key) const;
  // A key for that, in `file`, and in `file`.pub what hosts are given.
  Result<void> make_key(const std::string& file) const;
  Result<void> end(const std::vector<std::string>& ids) const;
  // What hosts counted for an order, an entry for each event. `per`: labels that stand before the keys.
  Result<std::vector<fleet::Frame>> sums(const std::string& order, const std::vector<std::string>& per) const;

  // The same of their own histograms of these events, without an order.
  Result<std::vector<fleet::Frame>> own_sums(const std::string& event, const std::string& where,
                                             const std::vector<std::string>& per) const;
  // What was counted in a period.
  Result<fleet::History> history(const fleet::HistoryQuestion& question) const;

  // The program with its first word and its environment, to start or to become it.
  [[nodiscard]] std::vector<std::string> command(const std::string& what) const { return {program_, what}; }
  [[nodiscard]] std::vector<std::string> environment() const { return environment(fleet::json_of(address_)); }
  [[nodiscard]] std::vector<std::string> environment(const std::string& options) const;
  // A collector with these options, which are its environment. ENOENT with what to install.
  [[nodiscard]] Result<std::vector<std::string>> collector(const fleet::CollectOptions& options) const;

 private:
  FleetHelper(std::string program, fleet::Address address)
      : program_(std::move(program)), address_(std::move(address)) {}
  [[nodiscard]] Result<std::string> ask(const std::string& what, const std::vector<std::string>& words = {}) const;

  std::string program_;
  fleet::Address address_;
};

}  // namespace landtrace::cli
