// What `landtrace fleet` prints of hosts and orders.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/frame.hpp"
#include "fleet/order.hpp"
#include "fleet/status.hpp"

namespace landtrace::cli {

// Columns as wide as they have to be; the last one as it is.
std::string table_text(std::vector<std::vector<std::string>> rows);

// A line a host, below names of columns.
std::string hosts_text(const std::vector<fleet::Status>& hosts, std::uint64_t now_ns);
std::string hosts_json(const std::vector<fleet::Status>& hosts, std::uint64_t now_ns);

// A line an order, with what hosts made of it.
std::string orders_text(const std::vector<fleet::Order>& orders, const std::vector<fleet::Status>& hosts,
                        std::uint64_t now_ns);

// "2 orders make no sense and are left out: a, b", the first of their names; "" for none.
std::string refused_text(const std::string& what, const std::vector<std::string>& names);

// What hosts made of an order.
struct Reports {
  std::uint64_t applied = 0;
  std::uint64_t ended = 0;
  std::uint64_t events = 0;
  std::vector<std::string> silent;    // hosts that it is for, and that have not said anything of it
  std::vector<std::string> refusals;  // "HOST: EVENT: REASON"
  std::vector<std::string> missing;   // events of it that no host ever had
  std::vector<std::string> there;     // … and some that there are, SYSTEM:EVENT
  // Of a probe's order what names of its events begin with, and what it is about.
  std::pair<std::string, std::string> probe = {};
  std::uint64_t refused = 0;          // hosts that do nothing of it

  [[nodiscard]] std::uint64_t hosts() const { return applied + ended + refused; }
};
// Of the hosts that are there now.
Reports reports_of(const fleet::Order& order, const std::vector<fleet::Status>& hosts, std::uint64_t now_ns);
// Of each missing event, that no host has it, and what may have been meant.
std::vector<std::string> missing_texts(const Reports& reports);
// "applied by 3 hosts, refused by 1".
std::string reports_text(const Reports& reports);

// What a snapshot has of a host.
struct SnapshotRow {
  std::string host = {};
  std::string domain = {};
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::uint64_t later = 0;                       // that came behind the moment, and are left out
  std::uint64_t left = 0;                        // older events that were too many
  std::optional<std::uint64_t> reaches_ns = {};  // how far back from the moment
  std::int64_t offset_ns = 0;                    // of its clock, to the one here
  std::optional<std::uint64_t> bound_ns = {};    // how much that may be wrong; none: nobody knows
  std::vector<std::string> left_out = {};        // fields
  std::string problem = {};
};
// Of what is wrong with a host's file, and of events of it that have no room; empty: nothing.
std::string problem_text(const std::string& damage, std::uint64_t without_room, const std::string& no_room);
struct SnapshotText {
  std::string file = {};
  std::vector<SnapshotRow> rows = {};
  bool has_replaced = false;  // an older file
};
// A line a host, and one of all.
std::string snapshot_text(const SnapshotText& snapshot);
std::string snapshot_json(const SnapshotText& snapshot);

// The sums of an order, as charts or as JSON.
Result<std::string> sums_text(const fleet::Order& order, const std::vector<fleet::Frame>& sums, bool json,
                              std::size_t columns);

}  // namespace landtrace::cli
