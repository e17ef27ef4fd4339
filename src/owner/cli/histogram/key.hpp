// What a row of a histogram is grouped by, by type: numbers are in the order of numbers, and numbers in JSON. (The
// `hist` file has the kernel's text, in which -1 is 18446744073709551615.)
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

#include "ipc/histogram_table.hpp"

namespace landtrace::cli {

struct HistKey {
  HistKey(const char* shown) : HistKey(std::string(shown)) {}
  HistKey(std::string shown) : value(shown), text(std::move(shown)) {}
  HistKey(std::variant<std::string, std::uint64_t, std::int64_t, double> of_type, std::string shown)
      : value(std::move(of_type)), text(std::move(shown)) {}

  std::variant<std::string, std::uint64_t, std::int64_t, double> value;
  std::string text;  // as people read it
  // It is no more than its number: not a group of numbers, and not written in another base.
  bool is_number = false;
  bool has_lines = false;  // a stack
};

bool operator==(const HistKey& a, const HistKey& b);
bool operator<(const HistKey& a, const HistKey& b);

HistKey typed_key(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value);

// The number that a field of so many bits had, which went for one without a sign.
std::int64_t with_sign(std::uint64_t number, unsigned bits);

}  // namespace landtrace::cli
