// Where a fleet's store is, and who one is there.
#pragma once

#include <cstdint>
#include <string>

#include "fleet/address.hpp"

namespace landtrace::fleet {

struct StoreAddress {
  bool is_tls = false;
  std::string host;  // "[::1]" with its brackets
  std::uint16_t port = 0;
  std::string database;
  std::string user;
  std::string password;

  // "clickhouse://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]", clickhouses:// for TLS. In user and password %XX is a
  // character. EINVAL with a sentence that has no password in it.
  static Result<StoreAddress> parse(const std::string& text);
  // "USER:PASSWORD", as the first line of a file. EINVAL.
  Result<void> read_user(std::string_view line);

  [[nodiscard]] std::string url() const;    // of HTTP
  [[nodiscard]] std::string shown() const;  // without user and password

  friend bool operator==(const StoreAddress&, const StoreAddress&) = default;
};

// What a collector is told.
struct CollectOptions {
  static constexpr std::uint64_t kDefaultMemory = 256u << 20;
  static constexpr std::uint64_t kDefaultDays = 30;

  Address address;
  std::string store = {};        // its address; "": there is none
  std::string store_user = {};   // a file
  std::uint64_t keep_days = kDefaultDays;
  std::uint64_t memory = kDefaultMemory;  // bytes, of what was counted when

  friend bool operator==(const CollectOptions&, const CollectOptions&) = default;
};
std::string json_of(const CollectOptions& options);
// EINVAL.
Result<CollectOptions> collect_options_of(const std::string& json);

}  // namespace landtrace::fleet
