// What a histogram holds, for its owner: the tables of all users, which are not trusted, put together by key.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "language/histogram/table_rows.hpp"

namespace landtrace::language {

// The last snapshot that an action took.
struct SnapshotTaken {
  bool is_taken = false;
  std::uint64_t value = 0;
  std::vector<std::byte> key;
  std::string comm;
};

struct TableContents {
  TableRows rows;  // by the bytes of their keys; see sort_as_kernel()
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;
  std::uint64_t lost = 0;                // events that were not made, being nested too deep
  std::vector<SnapshotTaken> snapshots;  // one an action
};

// `segments`: the users' data segments, each of at least plan.table + plan.layout.bytes. Producers may be writing
// meanwhile. Where several users have a key, what cannot be added up (variables, what was saved) is taken from the one
// with the larger tracked value, else from one where it is set.
// It ends early, with what there is, once it is given up.
TableContents read_tables(const hist::HistPlan& plan, std::span<std::byte* const> segments,
                          const std::stop_token& given_up = {});

// How many rows the table in one segment has, if its producers are to be believed; never more than it has room for.
std::uint64_t rows_at_most(const hist::HistPlan& plan, const std::byte* segment);

}  // namespace landtrace::language
