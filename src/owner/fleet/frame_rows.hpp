// The rows of a frame without making texts and lists of them: who adds up thousands of frames knows most keys already.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fleet/frame.hpp"

namespace landtrace::fleet {

struct RawRow {
  std::string_view key;  // the bytes of its keys: equal ones are equal keys
  std::uint64_t hits = 0;
  std::span<const std::uint64_t> values;
};

// What stands before the rows.
struct RawTable {
  std::string shape;  // the bytes of its keys and values
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;
};
Result<RawTable> table_of(std::string_view frame);

// Of a frame whose rows have so many values. EPROTO for one that makes no sense.
Result<void> for_each_row(std::string_view frame, std::size_t values, const std::function<void(const RawRow&)>& take);

// What the key's bytes say. EPROTO.
Result<ipc::HistogramRow> row_of_key(const ipc::HistogramTable& shape, std::string_view key);

}  // namespace landtrace::fleet
