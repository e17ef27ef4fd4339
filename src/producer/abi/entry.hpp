// The one reader of trace entries: of what stands in front of a payload, of its numbers, and of what its dynamic fields
// name.
//
//   0      2       3               4      8
//   +------+-------+---------------+------+---------------------+----------------------------+
//   | type | flags | preempt count | pid  | fields              | what dynamic fields name   |
//   +------+-------+---------------+------+---------------------+----------------------------+
//   |<- EntryHeader, 8 bytes ------------>|<- payload ------------------------------------- >|
//
// A dynamic field is a u32, length << 16 | begin. Of a __data_loc `begin` counts from the start of the entry, as the
// offsets of a `format` file do; of a __rel_loc from the end of the u32.
//
// Writers write payloads and nothing in front of them, but filters and histograms can ask for the header.
//
// Payloads are hostile: any location may be in one, and less of it may be there than its event's fields need.
// FlatPayload checks nothing, for callers who have compared sizes before; all else here reads only what is there. Pure
// functions, without allocation: the data plane uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "arch/ring_words.hpp"

namespace landtrace::abi {

struct EntryHeader {
  std::uint16_t type = 0;  // the event's id
  std::uint8_t flags = 0;
  std::uint8_t preempt_count = 0;
  std::int32_t pid = 0;  // the thread's id
};
inline constexpr std::uint32_t kEntryHeaderSize = sizeof(EntryHeader);
static_assert(kEntryHeaderSize == 8 && offsetof(EntryHeader, pid) == 4);

// -- numbers ------------------------------------------------------------------------------------------------------
template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A number of 1 to 8 bytes without its sign, with it.
constexpr std::uint64_t sign_extended(std::uint64_t value, std::uint32_t size) {
  const std::uint32_t unused = 64 - 8 * size;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

// A number of 1, 2, 4 or 8 bytes, widened. `load` is asked for the type that it has: load.operator()<std::int32_t>().
template <typename Load>
[[gnu::always_inline]] inline std::uint64_t load_number(std::uint32_t size, bool is_signed, const Load& load) {
  const auto widened = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  switch (size) {
    case 1:
      return is_signed ? widened(load.template operator()<std::int8_t>()) : load.template operator()<std::uint8_t>();
    case 2:
      return is_signed ? widened(load.template operator()<std::int16_t>()) : load.template operator()<std::uint16_t>();
    case 4:
      return is_signed ? widened(load.template operator()<std::int32_t>()) : load.template operator()<std::uint32_t>();
    default:
      return load.template operator()<std::uint64_t>();
  }
}

// `size` bytes at `offset` of a header that was loaded as one word; they lie within it.
constexpr std::uint64_t header_number(std::uint64_t header, std::uint32_t offset, std::uint32_t size) {
  return header >> (8 * offset) & (~0ull >> (64 - 8 * size));
}

// -- dynamic fields -----------------------------------------------------------------------------------------------
// Positions in the entry.
struct Location {
  std::uint64_t begin;
  std::uint64_t length;
};

constexpr Location data_location(std::uint32_t word) { return {word & 0xffff, word >> 16}; }
// `behind`: where in the entry the u32 ends.
constexpr Location rel_location(std::uint32_t word, std::uint64_t behind) {
  return {(word & 0xffff) + behind, word >> 16};
}
// The u32 of a __data_loc.
constexpr std::uint32_t location_word(std::uint64_t begin, std::uint64_t length) {
  return static_cast<std::uint32_t>(length << 16 | (begin & 0xffff));
}

// The same counted from the start of the payload. Empty for what begins in the header, where no field's data is.
constexpr Location in_payload(Location where) {
  return where.begin < kEntryHeaderSize ? Location{0, 0} : Location{where.begin - kEntryHeaderSize, where.length};
}

// What of it there is in the entry of a payload of that size.
constexpr Location cut(Location where, std::uint64_t payload_size) {
  const std::uint64_t end = payload_size + kEntryHeaderSize;
  if (where.begin > end) where.begin = end;
  return {where.begin, where.length < end - where.begin ? where.length : end - where.begin};
}

// -- payloads -----------------------------------------------------------------------------------------------------
// In one piece, of which the caller knows that all that is loaded is there.
class FlatPayload {
 public:
  explicit FlatPayload(const void* data) : data_(static_cast<const std::byte*>(data)) {}

  [[nodiscard]] const std::byte* data() const { return data_; }

  template <typename T>
  [[nodiscard]] T load(std::uint64_t offset) const {
    return abi::load<T>(data_ + offset);
  }

 private:
  const std::byte* data_;
};

// In any pieces. What is behind its end is 0.
class Payload {
 public:
  Payload(const arch::Segment* segments, std::size_t count)
      : segments_(segments),
        count_(count),
        flat_(count == 0 ? nullptr : static_cast<const std::byte*>(segments->data)),
        flat_size_(count == 0 ? 0 : segments->size) {}

  template <typename T>
  [[nodiscard]] T load(std::uint64_t offset) const {
    T value{};
    if (__builtin_expect(offset <= flat_size_ && sizeof value <= flat_size_ - offset, 1)) {
      std::memcpy(&value, flat_ + offset, sizeof value);
    } else {
      copy(offset, &value, sizeof value);
    }
    return value;
  }

  // A number of 1, 2, 4 or 8 bytes, widened.
  [[nodiscard]] std::uint64_t number(std::uint64_t offset, std::uint32_t size, bool is_signed) const {
    return load_number(size, is_signed, [&]<typename T>() { return load<T>(offset); });
  }

  // Copies what there is of `size` bytes from `offset` on, which may be several segments; returns how much that was.
  std::size_t copy(std::uint64_t offset, void* to, std::size_t size) const;

 private:
  const arch::Segment* segments_;
  std::size_t count_;
  // The first segment: nearly always all of it.
  const std::byte* flat_;
  std::uint64_t flat_size_;
};

// -- a payload in memory, for those who print it --------------------------------------------------------------------
using Bytes = std::span<const std::byte>;

// nullopt when they are not all payload. No bytes are everywhere.
inline std::optional<Bytes> bytes_at(Bytes payload, Location where) {
  const std::uint64_t end = payload.size() + kEntryHeaderSize;
  if (where.begin > end || where.length > end - where.begin) return std::nullopt;
  if (where.length == 0) return Bytes();
  if (where.begin < kEntryHeaderSize) return std::nullopt;
  return payload.subspan(where.begin - kEntryHeaderSize, where.length);
}

// 1, 2, 4 or 8 bytes without a sign; 0 for more than that.
inline std::uint64_t load_unsigned(Bytes bytes) {
  std::uint64_t value = 0;
  if (bytes.size() <= sizeof value && !bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

}  // namespace landtrace::abi
