// Where a fleet's transport is, and who one is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::fleet {

struct Address {
  std::string servers;  // "nats://a:4222,nats://b" (tls://… for TLS); user and password may be in front of the host
  std::string creds = {};  // a file with a user's JWT and seed
  std::string ca = {};     // a file with the certificates that servers are trusted by
  std::string cert = {};   // a file with one's own, for servers that want one
  std::string key = {};    // … and its key

  friend bool operator==(const Address&, const Address&) = default;

  [[nodiscard]] bool is_tls() const;
};

inline constexpr const char* kDefaultServers = "nats://127.0.0.1:4222";

// Each server with its scheme. EINVAL with a sentence.
Result<std::vector<std::string>> servers_of(const std::string& list);

// The list as it may be shown: without users and passwords.
std::string without_users(const std::string& list);
// Of the list's first server; "" where there is none with a password: what stands there alone is a token.
std::string user_of(const std::string& list);

// What a host's agent is told.
struct AgentOptions {
  std::string socket;  // of the domain
  Address address;
  std::string host;
  std::string domain;
  std::string labels = {};
  std::string version = {};
  std::vector<std::string> left_out = {};    // fields that do not travel
  std::vector<std::string> histograms = {};  // patterns of events: the host's own ones of these are sent
  std::string trust = {};                    // a file with keys: orders that they have not signed are refused
  std::uint64_t interval_ms = 10'000;
  std::uint64_t most_bytes = 16u << 20;   // that are kept while the transport is away
  std::uint64_t ended_kept_ms = 600'000;  // so long it tells of orders that have ended

  friend bool operator==(const AgentOptions&, const AgentOptions&) = default;
};

// In which programs of ours hand these to landtrace-fleet: others may read its words, and there may be a password.
inline constexpr const char* kOptionsVariable = "LANDTRACE_FLEET_OPTIONS";
std::string json_of(const Address& address);
std::string json_of(const AgentOptions& options);
// EINVAL.
Result<Address> address_of(const std::string& json);
Result<AgentOptions> agent_options_of(const std::string& json);

}  // namespace landtrace::fleet
