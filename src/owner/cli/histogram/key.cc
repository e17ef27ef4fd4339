#include "cli/histogram/key.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "base/input.hpp"
#include "rules/histograms/keys_text.hpp"

namespace landtrace::cli {
namespace {

using ipc::KeyKind;

template <typename T>
HistKey number(T value) {
  HistKey key(value, fmt::format("{}", value));
  key.is_number = true;
  return key;
}

// The same decimals whether it was a float or a double: 0.1 is 0.1.
HistKey real(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  HistKey key(value, text);
  key.is_number = true;
  return key;
}

// The kernel has negative numbers where 0 and 1 are, and so have steps where 0 is.
HistKey power(const ipc::HistogramKey& key, std::uint64_t number, std::string text) {
  if (key.signed_bits == 0 || number != 0) return {number, std::move(text)};
  return {number, key.kind == KeyKind::kSteps ? "<= 0" : "<= 1"};
}

HistKey range(const ipc::HistogramKey& key, std::uint64_t number, std::string text) {
  if (key.signed_bits == 0) return {number, std::move(text)};
  const std::int64_t from = with_sign(number, key.signed_bits);
  // The last range of all begins with the largest positive numbers' neighbours and ends with -1.
  const std::int64_t to = with_sign(number + key.width - 1, key.signed_bits);
  return {from, fmt::format("~ {}-{}", from, from < 0 && to >= 0 ? -1 : to)};
}

HistKey hex(const ipc::HistogramKey& key, std::uint64_t number, std::string text) {
  if (key.signed_bits == 0 || key.signed_bits == 64) return {number, std::move(text)};
  number &= (1ull << key.signed_bits) - 1;
  return {number, fmt::format("{:x}", number)};
}

}  // namespace

bool operator==(const HistKey& a, const HistKey& b) { return a.text == b.text && a.value.index() == b.value.index(); }

bool operator<(const HistKey& a, const HistKey& b) {
  if (a.value.index() != b.value.index()) return a.value.index() < b.value.index();
  const double* const one = std::get_if<double>(&a.value);
  const double* const other = std::get_if<double>(&b.value);
  // Numbers that are none are in some order, too.
  const bool is_less = one != nullptr ? std::strong_order(*one, *other) < 0 : a.value < b.value;
  const bool is_more = one != nullptr ? std::strong_order(*other, *one) < 0 : b.value < a.value;
  return is_less || (!is_more && a.text < b.text);
}

std::int64_t with_sign(std::uint64_t number, unsigned bits) {
  const unsigned above = bits == 0 || bits >= 64 ? 0 : 64 - bits;
  return static_cast<std::int64_t>(number << above) >> above;
}

HistKey typed_key(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value) {
  std::string text(trimmed(rules::value_text(key, value)));
  switch (key.kind) {
    case KeyKind::kUnsigned:
      return number(value.number);
    case KeyKind::kSigned:
      return number(static_cast<std::int64_t>(value.number));
    case KeyKind::kFloat:
      return real(fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(value.number))));
    case KeyKind::kDouble:
      return real(fmt::format("{}", std::bit_cast<double>(value.number)));
    case KeyKind::kLog2:
      return power(key, value.number, std::move(text));
    case KeyKind::kSteps:
      return power(key, value.number, std::move(text));
    case KeyKind::kRange:
      return range(key, value.number, std::move(text));
    case KeyKind::kHex:
      return hex(key, value.number, std::move(text));
    case KeyKind::kText:
      return {value.text, value.text};  // with all of its spaces
    case KeyKind::kStack: {
      HistKey stack(text, text);
      stack.has_lines = true;
      return stack;
    }
    default:
      return {text, text};
  }
}

}  // namespace landtrace::cli
