// The rows of a histogram's tables. What every row has lies in one piece for all of them, so that a million rows are
// no million allocations:
//
//   words   +----------------------------------+----------------------------------+----
//           | key | hit count | sums           | key | hit count | sums           | …
//           +----------------------------------+----------------------------------+----
//           row 0                              row 1
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_pages.hpp"
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

struct ActionState {
  std::uint64_t tracked = 0;      // onmax, onchange: the value now
  std::vector<TableValue> saved;  // kSave
};

// What rows have of histograms with variables, actions, or names of threads.
struct RowParts {
  std::vector<TableValue> variables;
  std::string comm;  // of the thread that made the element, if the layout has it
  std::vector<ActionState> actions;
};

// One row as it lies in a TableRows, which must stay.
struct TableRow {
  std::span<const std::byte> key;  // layout.key_size bytes
  std::uint64_t hitcount = 0;
  std::span<const std::uint64_t> sums;
  std::span<const TableValue> variables;
  std::string_view comm;
  std::span<const ActionState> actions;
};

class TableRows {
 public:
  TableRows() = default;
  explicit TableRows(const hist::HistPlan& plan)
      : key_words_(plan.layout.key_size / 8),
        row_words_(key_words_ + 1 + plan.layout.value_count),
        has_parts_(plan.variable_count > 0 || plan.action_count > 0 || plan.layout.comm_at != 0) {}

  [[nodiscard]] std::size_t size() const { return row_words_ == 0 ? 0 : words_.size() / row_words_; }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] TableRow operator[](std::size_t row) const {
    const std::uint64_t* const words = words_.data() + row * row_words_;
    TableRow view{std::as_bytes(std::span(words, key_words_)),
                  words[key_words_],
                  {words + key_words_ + 1, row_words_ - key_words_ - 1},
                  {},
                  {},
                  {}};
    if (!has_parts_) return view;
    const RowParts& parts = parts_[row];
    view.variables = parts.variables;
    view.comm = parts.comm;
    view.actions = parts.actions;
    return view;
  }
  // For rows that are looked at in an order of their own: it is loaded by the time it is needed.
  void prefetch(std::size_t row) const { __builtin_prefetch(words_.data() + row * row_words_); }

  class Iterator {
   public:
    Iterator(const TableRows& rows, std::size_t at) : rows_(&rows), at_(at) {}
    TableRow operator*() const { return (*rows_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const TableRows* rows_;
    std::size_t at_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

  // -- for whoever reads the tables ---------------------------------------------------------------------------------
  void expect(std::size_t more) { reserve_large(words_, words_.size() + more * row_words_); }
  // The words of a new row, to be written before the next call.
  std::uint64_t* add() {
    words_.resize(words_.size() + row_words_);
    if (has_parts_) parts_.emplace_back();
    return words_.data() + words_.size() - row_words_;
  }
  [[nodiscard]] bool has_parts() const { return has_parts_; }
  [[nodiscard]] RowParts& parts(std::size_t row) { return parts_[row]; }
  [[nodiscard]] std::span<std::uint64_t> counts(std::size_t row) {
    return {words_.data() + row * row_words_ + key_words_, row_words_ - key_words_};
  }
  // Leaves these, in this order.
  void select(const std::vector<std::uint32_t>& rows);

 private:
  std::size_t key_words_ = 0;
  std::size_t row_words_ = 0;
  bool has_parts_ = false;
  std::vector<std::uint64_t> words_;
  std::vector<RowParts> parts_;  // one a row, or none
};

}  // namespace landtrace::language
