// A histogram as the owner tells a client of it: what it counts by, with types, and its rows. Not text to be taken
// apart.
//
// As bytes (numbers in the machine's order, a text is its u32 size and its bytes):
//
//   reply      u32 version | u32 number of histograms | histogram...
//   histogram  text trigger
//              u16 number of keys   | key:   u8 kind | text name | u64 width | u8 signed_bits
//              u16 number of values | value: u8 1 is_hex, 2 is_signed, 4 is_kept | text name
//              u64 hits | u64 dropped
//              u32 number of rows   | row:   key value... | u64 hits | u64 value...
//   key value  kText: text. kStack: u16 number of frames | u64 address | text name, each.
//              kSymbol, kSymbolOffset, kExecName, kSyscall: u64 | text. The others: u64.
//
// Whoever reads it refuses another version: what is added is added with a new one.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace landtrace::ipc {

inline constexpr std::uint32_t kHistogramVersion = 4;

enum class KeyKind : std::uint8_t {
  kUnsigned,
  kSigned,  // the number in two's complement
  kHex,
  kText,
  kStack,
  kSymbol,        // an address, and the function there
  kSymbolOffset,  // … with how far behind its beginning
  kExecName,      // a process, and what it ran
  kSyscall,       // a system call's number, and its name
  kLog2,          // values v with 2^(number-1) < v <= 2^number
  kRange,         // values from the number on, `width` of them
  kFloat,         // the number has its bits
  kDouble,
  kSteps,  // values from the number on, up to last_in_step(): `width` steps a power of two, a power of two themselves
};
inline constexpr KeyKind kLastKeyKind = KeyKind::kSteps;
// What a key's value has.
constexpr bool has_number(KeyKind kind) { return kind != KeyKind::kText && kind != KeyKind::kStack; }
constexpr bool has_text(KeyKind kind) {
  return kind == KeyKind::kText || kind == KeyKind::kSymbol || kind == KeyKind::kSymbolOffset ||
         kind == KeyKind::kExecName || kind == KeyKind::kSyscall;
}

// Of a step that begins with `first`, where a power of two has so many. Below twice that number each value is one.
inline std::uint64_t last_in_step(std::uint64_t first, std::uint64_t steps) {
  if (first < 2 * steps) return first;
  return first + (std::bit_floor(first) / steps) - 1;
}

struct HistogramKey {
  KeyKind kind = KeyKind::kUnsigned;
  std::string name;
  std::uint64_t width = 0;  // kRange, kSteps
  // Of a field that may be negative: its size in bits. kRange and kHex take it for an unsigned one; in kLog2 and kSteps
  // negative values have the number 0, with 0 and 1.
  std::uint8_t signed_bits = 0;

  friend bool operator==(const HistogramKey&, const HistogramKey&) = default;
};

struct HistogramFrame {
  std::uint64_t address = 0;
  std::string name;

  friend bool operator==(const HistogramFrame&, const HistogramFrame&) = default;
};

// What a row has of a key; which of these there are, the key's kind says.
struct HistogramKeyValue {
  std::uint64_t number = 0;
  std::string text;
  std::vector<HistogramFrame> frames;

  friend bool operator==(const HistogramKeyValue&, const HistogramKeyValue&) = default;
};

// What is added up, the hit count aside; behind that what actions keep.
struct HistogramValue {
  std::string name;
  bool is_hex = false;
  bool is_signed = false;  // the sum is one in two's complement
  bool is_kept = false;    // no sum: the largest or latest value of a variable, of onmax or onchange

  friend bool operator==(const HistogramValue&, const HistogramValue&) = default;
};

struct HistogramRow {
  std::vector<HistogramKeyValue> keys;
  std::uint64_t hits = 0;
  std::vector<std::uint64_t> values;

  friend bool operator==(const HistogramRow&, const HistogramRow&) = default;
};

struct HistogramTable {
  std::string trigger;  // as the `trigger` file shows it
  std::vector<HistogramKey> keys;
  std::vector<HistogramValue> values;
  std::vector<HistogramRow> rows;  // in the order of its sort keys
  std::uint64_t hits = 0;          // of all rows
  std::uint64_t dropped = 0;       // events that found no room in it

  friend bool operator==(const HistogramTable&, const HistogramTable&) = default;
};

// Row by row, for who has a million of them: begin(), then of each row its keys' values, the hits, and the values, with
// key() or number(), as the table has them.
class HistogramEncoder {
 public:
  explicit HistogramEncoder(std::size_t histograms);

  // All of it but the rows, of which there will be so many.
  void begin(const HistogramTable& table, std::size_t rows);
  void key(KeyKind kind, const HistogramKeyValue& value);
  void number(std::uint64_t number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Each row has as many keys and values as its table.
std::string encode(const std::vector<HistogramTable>& tables);
// EPROTO with a sentence for bytes that encode() does not give.
Result<std::vector<HistogramTable>> decode_histograms(std::string_view bytes);

}  // namespace landtrace::ipc
