// What a histogram holds, for its owner: the tables of all users, which are not trusted, put together by key.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hist/layout.hpp"

namespace landtrace::language {

// A number, a text, or a stack's addresses.
struct TableValue {
  hist::ValueType type = hist::ValueType::kNumber;
  bool is_set = false;
  std::uint64_t number = 0;
  std::string text;
  std::vector<std::uint64_t> stack;
};

struct TableRow {
  std::vector<std::byte> key;  // layout.key_size bytes
  std::uint64_t hitcount = 0;
  std::vector<std::uint64_t> sums;
  std::vector<TableValue> variables;
  std::string comm;  // of the thread that made the element, if the layout has it
  struct ActionState {
    std::uint64_t tracked = 0;   // onmax, onchange: the value now
    std::vector<TableValue> saved;  // kSave
  };
  std::vector<ActionState> actions;
};

// The last snapshot that an action took.
struct SnapshotTaken {
  bool is_taken = false;
  std::uint64_t value = 0;
  std::vector<std::byte> key;
  std::string comm;
};

struct TableContents {
  std::vector<TableRow> rows;  // by the bytes of their keys; see sort_as_kernel()
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;
  std::uint64_t lost = 0;                // events that were not made, being nested too deep
  std::vector<SnapshotTaken> snapshots;  // one an action
};

// `segments`: the users' data segments, each of at least plan.table + plan.layout.bytes. Producers may be writing
// meanwhile. Where several users have a key, what cannot be added up (variables, what was saved) is taken from the one
// with the larger tracked value, else from one where it is set.
TableContents read_tables(const hist::HistPlan& plan, std::span<std::byte* const> segments);

}  // namespace landtrace::language
