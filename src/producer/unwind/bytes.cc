#include "unwind/bytes.hpp"

namespace landtrace::unwind {
namespace {

// DW_EH_PE_*: the low half says how the value is written, the high half what it is relative to.
enum : std::uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kU16 = 0x02,
  kU32 = 0x03,
  kU64 = 0x04,
  kSleb = 0x09,
  kS16 = 0x0a,
  kS32 = 0x0b,
  kS64 = 0x0c,
  kRelativeToPlace = 0x10,
  kRelativeToData = 0x30,
};

}  // namespace

std::uint64_t Cursor::uleb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = take<std::uint8_t>();
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

std::int64_t Cursor::sleb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = take<std::uint8_t>();
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) != 0) continue;
    if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~0ull << (shift + 7);
    return static_cast<std::int64_t>(value);
  }
}

std::uint64_t Cursor::pointer(std::uint8_t encoding, std::uint64_t data_base) {
  if (encoding == kPointerOmitted) return 0;
  const std::uint64_t place = address();
  std::uint64_t value = 0;
  switch (encoding & 0x0f) {
    case kAbsolute:
    case kU64:
    case kS64:
      value = take<std::uint64_t>();
      break;
    case kUleb:
      value = uleb();
      break;
    case kU16:
      value = take<std::uint16_t>();
      break;
    case kU32:
      value = take<std::uint32_t>();
      break;
    case kSleb:
      value = static_cast<std::uint64_t>(sleb());
      break;
    case kS16:
      value = static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
      break;
    case kS32:
      value = static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
      break;
    default:
      ok_ = false;
      return 0;
  }
  switch (encoding & 0x70) {
    case kAbsolute:
      return value;
    case kRelativeToPlace:
      return value + place;
    case kRelativeToData:
      return value + data_base;
    default:
      ok_ = false;
      return 0;
  }
}

}  // namespace landtrace::unwind
