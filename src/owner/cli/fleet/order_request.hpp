// What `landtrace fleet` is asked to have hosts do, as an order.
#pragma once

#include <string>
#include <vector>

#include "cli/histogram/hist_request.hpp"
#include "fleet/address.hpp"
#include "fleet/order.hpp"

namespace landtrace::cli {

struct FleetOptions {
  std::vector<std::string> words;  // the first says what
  fleet::Address address;
  std::string where;
  std::string lasts = "10m";
  std::string interval;
  std::string filter;
  std::vector<std::string> triggers;
  std::string probe;
  std::string from;
  std::string to;
  std::vector<std::string> key;
  std::vector<std::string> to_key;
  std::vector<std::string> by;
  std::vector<std::string> keys;
  std::vector<std::string> vals;
  std::vector<std::string> per;
  std::vector<std::string> events;  // of a snapshot
  std::string output = "fleet.dat";
  std::string timeout = "10s";
  std::string last;  // of what is over, as the next three
  std::string since;
  std::string until;
  std::string every;
  std::string listen = "127.0.0.1:4222";
  std::string store;
  std::string sign;  // a file with a key
  bool own = false;
  bool stack = false;
  bool live = false;
  bool detach = false;
  bool json = false;
};

// "90", "30s", "10m", "2h", "1d" in nanoseconds. EINVAL with a sentence.
Result<std::uint64_t> parse_duration(const std::string& option, const std::string& text);

// An order that begins now. EINVAL with a sentence for what no host could do.
Result<fleet::Order> order_of(const FleetOptions& options);
// How what is counted for it is shown: the histogram's keys and values say what they are.
HistShape shape_of(const fleet::Order& order, const ipc::HistogramTable& table);

}  // namespace landtrace::cli
