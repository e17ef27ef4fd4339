// A column of the page's data: the values that the events of a block have for one thing.
//
//     byte       mode: 0 all are equal, one varint follows | 1 varints | 2 varints of differences, the first from 0
//                      3 numbers of 8 bytes, little-endian | 4 doubles; + 16: some are missing
//     [bitmap]   of those that are missing, if there are some: bit i % 8 of byte i / 8; their values are 0
//     values
//
// A varint has 7 bits a byte, the lowest first, and bit 7 where more follow; it is 2n for n >= 0 and -2n-1 for n < 0.
// JavaScript has 53 bits: what does not fit with its differences (mode 1 and 2) is written in mode 3. Numbers without a
// sign of 64 bits are written as if they had one, so those from 2^63 on are negative in any mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace landtrace::output::page {

void append_varint(std::string& out, std::uint64_t value);
inline std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

class Column {
 public:
  explicit Column(bool is_double = false) : is_double_(is_double) {}

  // Numbers without a sign of more than 63 bits are given as their bits.
  void add(std::int64_t value) { values_.push_back(value); }
  void add_double(double value);
  void add_missing();

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  void append_to(std::string& out) const;
  void clear();

 private:
  void append_missing(std::string& out) const;
  void append_raw(std::string& out) const;

  bool is_double_;
  std::vector<std::int64_t> values_;  // of doubles their bits
  std::vector<std::size_t> missing_;  // which, in order
};

}  // namespace landtrace::output::page
