// What a histogram counts by, with types: for clients that ask for it, and for the hist file's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

// A row's keys, from the bytes of its key; `comm` is that of the thread which made the row.
std::vector<ipc::HistogramKeyValue> key_values(const Histogram& histogram, std::span<const std::byte> key,
                                               const std::string& comm, AddressNames& names);

// Where the parts of a key begin in its bytes.
std::vector<std::uint32_t> key_offsets(const Histogram& histogram);
std::uint64_t number_at(std::span<const std::byte> key, std::uint32_t offset);

}  // namespace landtrace::rules
