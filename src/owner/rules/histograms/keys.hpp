// What a histogram counts by, with types: for clients that ask for it, and for the hist file's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/histograms/histogram.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::rules {

// What is at addresses of the producing programs.
class AddressNames {
 public:
  virtual ~AddressNames() = default;
  // "function", or "0x…" where none is known.
  virtual std::string symbol(std::uint64_t address) = 0;
  // "function+0x10".
  virtual std::string symbol_with_offset(std::uint64_t address) = 0;
  // The same for where a call returns to.
  virtual std::string frame(std::uint64_t address, bool is_first) = 0;
};

ipc::HistogramKey key_of(const HistogramField& field);

// What rows have of each key, found out once for all rows.
class RowKeys {
 public:
  // Both must stay.
  RowKeys(const Histogram& histogram, AddressNames& names);

  [[nodiscard]] const std::vector<ipc::HistogramKey>& all() const { return keys_; }
  // From the bytes of a row's key; `comm` is that of the thread which made the row.
  [[nodiscard]] ipc::HistogramKeyValue value(std::size_t number, std::span<const std::byte> key,
                                             std::string_view comm) const;
  // Whether a key is shown by its number alone; and that.
  [[nodiscard]] bool is_number(std::size_t number) const { return is_number_[number]; }
  [[nodiscard]] std::uint64_t number(std::size_t number, std::span<const std::byte> key) const;

 private:
  AddressNames& names_;
  std::vector<ipc::HistogramKey> keys_;
  std::vector<bool> is_number_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> sizes_;
};

// Where the parts of a key begin in its bytes.
std::vector<std::uint32_t> key_offsets(const Histogram& histogram);
std::uint64_t number_at(std::span<const std::byte> key, std::uint32_t offset);

}  // namespace landtrace::rules
