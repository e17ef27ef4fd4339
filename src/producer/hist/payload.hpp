// An event's payload as a histogram reads it. What is behind its end is 0.
#pragma once

#include <algorithm>
#include <cstring>

#include "arch/ring_words.hpp"
#include "hist/layout.hpp"

namespace landtrace::hist {

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
  [[nodiscard]] std::uint64_t load_number(std::uint64_t offset, std::uint32_t size, bool is_signed) const {
    switch (size) {
      case 1:
        return is_signed ? widen(load<std::int8_t>(offset)) : load<std::uint8_t>(offset);
      case 2:
        return is_signed ? widen(load<std::int16_t>(offset)) : load<std::uint16_t>(offset);
      case 4:
        return is_signed ? widen(load<std::int32_t>(offset)) : load<std::uint32_t>(offset);
      default:
        return load<std::uint64_t>(offset);
    }
  }

  // Copies what there is of `size` bytes from `offset` on, which may be several segments; returns how much that was.
  std::size_t copy(std::uint64_t offset, void* to, std::size_t size) const;

 private:
  static std::uint64_t widen(std::int64_t value) { return static_cast<std::uint64_t>(value); }

  const arch::Segment* segments_;
  std::size_t count_;
  const std::byte* flat_;  // the first segment
  std::uint64_t flat_size_;
};

}  // namespace landtrace::hist
