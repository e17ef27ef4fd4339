#include "fleet/row_binary.hpp"

namespace landtrace::fleet {
namespace {

constexpr unsigned kVarintBits = 7;
constexpr std::uint64_t kMore = 1u << kVarintBits;

}  // namespace

void RowWriter::size(std::uint64_t count) {
  for (; count >= kMore; count >>= kVarintBits) out_ += static_cast<char>((count & (kMore - 1)) | kMore);
  out_ += static_cast<char>(count);
}

void RowWriter::text(std::string_view text) {
  size(text.size());
  out_ += text;
}

void RowWriter::numbers(const std::vector<std::uint64_t>& values) {
  size(values.size());
  for (const std::uint64_t value : values) number(value);
}

void RowWriter::texts(const std::vector<std::string>& values) {
  size(values.size());
  for (const std::string& value : values) text(value);
}

std::string_view RowReader::take(std::uint64_t size) {
  is_good_ = is_good_ && size <= rest_.size();
  if (!is_good_) return {};
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::string_view RowReader::text() {
  std::uint64_t size = 0;
  for (unsigned shift = 0; shift < 64; shift += kVarintBits) {
    const auto byte = number<std::uint8_t>();
    size |= (byte & (kMore - 1)) << shift;
    if (byte < kMore) return take(size);
  }
  is_good_ = false;
  return {};
}

}  // namespace landtrace::fleet
