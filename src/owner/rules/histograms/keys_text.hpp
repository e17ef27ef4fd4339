// The key of an entry as the hist file shows it: "{ id:          1, name: abc }".
#pragma once

#include <string>

#include "rules/histograms/keys.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::rules {

// What stands behind the name of one key, with the file's padding; of a stack, a line for each frame.
std::string value_text(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value);

// A number as rows have it: at least ten characters wide.
void append_number(std::string& to, std::uint64_t number);

// Of the rows of one histogram.
class KeysText {
 public:
  // Both must stay.
  KeysText(const Histogram& histogram, AddressNames& names);

  // From the bytes of a row's key; `comm` is that of the thread which made the row.
  void append(std::string& to, std::span<const std::byte> key, std::string_view comm) const;

 private:
  RowKeys keys_;
  std::vector<std::string> begins_;  // what stands in front of each key's value
  std::string_view end_;
};

}  // namespace landtrace::rules
