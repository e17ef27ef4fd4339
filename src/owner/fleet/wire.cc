#include "fleet/wire.hpp"

namespace landtrace::fleet {
namespace {

constexpr unsigned kWireBits = 3;
constexpr std::uint64_t kWireMask = (1u << kWireBits) - 1;
enum Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
constexpr std::uint64_t kMostFields = 1u << 29;

}  // namespace

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  is_good_ = false;
  return std::nullopt;
}

std::optional<std::string_view> WireReader::take(std::uint64_t size) {
  is_good_ = is_good_ && size <= rest_.size();
  if (!is_good_) return std::nullopt;
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::optional<WireField> WireReader::next() {
  while (is_good_ && !rest_.empty()) {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    if (*tag >> kWireBits == 0 || *tag >> kWireBits >= kMostFields) {
      is_good_ = false;
      return std::nullopt;
    }
    WireField field{static_cast<std::uint32_t>(*tag >> kWireBits), false, 0, {}};
    switch (*tag & kWireMask) {
      case kVarint: {
        const auto value = varint();
        if (!value) return std::nullopt;
        field.value = *value;
        return field;
      }
      case kLength: {
        const auto size = varint();
        const auto bytes = size ? take(*size) : std::nullopt;
        if (!bytes) return std::nullopt;
        field.is_bytes = true;
        field.bytes = *bytes;
        return field;
      }
      case kFixed64:
        if (!take(8)) return std::nullopt;
        break;
      case kFixed32:
        if (!take(4)) return std::nullopt;
        break;
      default:
        is_good_ = false;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::next_number() {
  if (!is_good_ || rest_.empty()) return std::nullopt;
  return varint();
}

}  // namespace landtrace::fleet
