#include "output/page/column.hpp"

#include <algorithm>
#include <bit>

namespace landtrace::output::page {
namespace {

enum Mode : char { kEqual = 0, kPlain = 1, kDifferences = 2, kRaw = 3, kDoubles = 4, kSomeMissing = 16 };

// Twice a difference of two of these has 53 bits.
constexpr std::int64_t kNarrow = std::int64_t{1} << 51;

std::size_t varint_size(std::uint64_t value) { return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7; }

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

void Column::add_double(double value) { values_.push_back(std::bit_cast<std::int64_t>(value)); }

void Column::add_missing() {
  missing_.push_back(values_.size());
  values_.push_back(0);
}

void Column::append_missing(std::string& out) const {
  if (missing_.empty()) return;
  const std::size_t begin = out.size();
  out.resize(begin + (values_.size() + 7) / 8);
  for (const std::size_t i : missing_) out[begin + i / 8] = static_cast<char>(out[begin + i / 8] | 1 << i % 8);
}

void Column::append_raw(std::string& out) const {
  for (const std::int64_t value : values_) {
    for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
  }
}

void Column::append_to(std::string& out) const {
  bool is_narrow = !is_double_;
  std::size_t plain = 0;
  std::size_t differences = 0;
  for (std::size_t i = 0; i < values_.size() && is_narrow; ++i) {
    const std::int64_t value = values_[i];
    is_narrow = value > -kNarrow && value < kNarrow;
    if (!is_narrow) break;
    plain += varint_size(zigzag(value));
    differences += varint_size(zigzag(value - (i == 0 ? 0 : values_[i - 1])));
  }
  const bool is_equal =
      is_narrow && std::all_of(values_.begin(), values_.end(), [&](auto value) { return value == values_.front(); });
  const char mode = is_double_            ? kDoubles
                    : !is_narrow          ? kRaw
                    : is_equal            ? kEqual
                    : differences < plain ? kDifferences
                                          : kPlain;
  out += static_cast<char>(mode | (missing_.empty() ? 0 : kSomeMissing));
  append_missing(out);
  if (mode == kDoubles || mode == kRaw) return append_raw(out);
  if (mode == kEqual) return append_varint(out, zigzag(values_.empty() ? 0 : values_.front()));
  std::int64_t before = 0;
  for (const std::int64_t value : values_) {
    append_varint(out, zigzag(mode == kPlain ? value : value - before));
    before = value;
  }
}

void Column::clear() {
  values_.clear();
  missing_.clear();
}

}  // namespace landtrace::output::page
