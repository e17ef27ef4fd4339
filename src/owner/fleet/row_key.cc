#include "fleet/row_key.hpp"

#include <charconv>

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;

constexpr char kBetween = '\t';
constexpr char kEscape = '\\';

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == kBetween) out += "\\t";
    if (c == kEscape) out += "\\\\";
    if (c != kBetween && c != kEscape) out += c;
  }
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == kEscape && i + 1 < text.size();
    if (is_escaped) ++i;
    plain += is_escaped && text[i] == 't' ? kBetween : text[i];
  }
  return plain;
}

bool read_number(std::string_view text, KeyKind kind, std::uint64_t& number) {
  std::from_chars_result read{};
  const char* const end = text.data() + text.size();
  if (kind == KeyKind::kSigned) {
    std::int64_t with_sign = 0;
    read = std::from_chars(text.data(), end, with_sign);
    number = static_cast<std::uint64_t>(with_sign);
  } else {
    read = std::from_chars(text.data(), end, number);
  }
  return read.ec == std::errc() && read.ptr == end;
}

std::size_t keys_in_text(const ipc::HistogramTable& shape) { return shape.keys.size() - (has_steps(shape) ? 1 : 0); }

}  // namespace

bool has_steps(const ipc::HistogramTable& shape) {
  return !shape.keys.empty() && (shape.keys.back().kind == KeyKind::kSteps || shape.keys.back().kind == KeyKind::kLog2);
}

std::string key_text(const ipc::HistogramTable& shape, const ipc::HistogramRow& row) {
  std::string text;
  for (std::size_t i = 0; i < keys_in_text(shape); ++i) {
    if (i > 0) text += kBetween;
    const KeyKind kind = shape.keys[i].kind;
    const std::uint64_t number = row.keys[i].number;
    if (kind == KeyKind::kText) {
      append_escaped(text, row.keys[i].text);
    } else if (kind == KeyKind::kSigned) {
      text += std::to_string(static_cast<std::int64_t>(number));
    } else {
      text += std::to_string(number);
    }
  }
  return text;
}

std::uint64_t step_of(const ipc::HistogramTable& shape, const ipc::HistogramRow& row) {
  return has_steps(shape) ? row.keys.back().number : 0;
}

bool read_keys(const ipc::HistogramTable& shape, std::string_view text, std::uint64_t step, ipc::HistogramRow& row) {
  const std::size_t count = keys_in_text(shape);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? text.find(kBetween) : text.size();
    if (end == std::string_view::npos) return false;
    ipc::HistogramKeyValue& key = row.keys.emplace_back();
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (shape.keys[i].kind == KeyKind::kText) {
      key.text = unescaped(one);
    } else if (!read_number(one, shape.keys[i].kind, key.number)) {
      return false;
    }
  }
  if (has_steps(shape)) row.keys.push_back({step, "", {}});
  return text.empty();
}

}  // namespace landtrace::fleet
