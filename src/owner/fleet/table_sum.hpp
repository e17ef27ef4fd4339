// Adds up tables that have the same keys and values: rows with equal keys become one.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ipc/histogram_table.hpp"

namespace landtrace::fleet {

class TableSum {
 public:
  // It has these keys and values, behind those of groups. Before the first table: else they are that one's.
  void begin(const ipc::HistogramTable& shape, const std::vector<std::string>& group_names);

  // `group`: what stands before the keys of each of its rows, a value for each of `group_names`, which are those of the
  // first table. False: the table has other keys or values than those before it, and nothing of it was added.
  bool add(const ipc::HistogramTable& table, const std::vector<std::string>& group_names = {},
           const std::vector<std::string>& group = {});

  // Rows are in the order in which their keys came first.
  [[nodiscard]] const ipc::HistogramTable& table() const& { return sum_; }
  [[nodiscard]] ipc::HistogramTable table() && { return std::move(sum_); }

  // Of memory that its rows take, about.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // … that the table's would, if none of its keys was there.
  [[nodiscard]] static std::size_t bytes_of(const ipc::HistogramTable& table, const std::vector<std::string>& group);

 private:
  void add_row(const ipc::HistogramRow& row, const std::vector<std::string>& group);

  ipc::HistogramTable sum_;
  bool is_begun_ = false;
  std::unordered_map<std::string, std::size_t> rows_;  // by their keys
  std::string name_;
  std::size_t bytes_ = 0;
};

}  // namespace landtrace::fleet
