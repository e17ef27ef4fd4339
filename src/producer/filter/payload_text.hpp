// A text in an entry, in one piece or not, as the matchers look at it. Behind the entry's end there is nothing but NUL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arch/ring_words.hpp"
#include "filter/evaluate.hpp"
#include "filter/find_text.hpp"

namespace landtrace::filter {

// Bytes in a row.
class FlatText {
 public:
  FlatText(const void* data, std::size_t size) : data_(static_cast<const std::byte*>(data)), size_(size) {}

  [[nodiscard]] const std::byte* data() const { return data_; }

  std::uint8_t at(std::size_t i) { return i < size_ ? std::to_integer<std::uint8_t>(data_[i]) : 0; }

  // Whether `what` stands at `i`. It holds no NUL, or one as its last byte.
  bool has(std::size_t i, const std::byte* what, std::size_t length) {
    if (i + length <= size_) return std::memcmp(data_ + i, what, length) == 0;
    return i + length == size_ + 1 && what[length - 1] == std::byte{0} && std::memcmp(data_ + i, what, length - 1) == 0;
  }

  bool holds(std::size_t size, const std::byte* pattern, std::size_t length) {
    return holds_text(data_, size, pattern, length);
  }

 private:
  const std::byte* data_;
  std::size_t size_;
};

// An entry in pieces: the common header, then segments. Positions may go up and down at no great cost.
class ScatteredText {
 public:
  ScatteredText(const Context& context, const arch::Segment* segments, std::size_t count, std::uint64_t begin)
      : header_(&context.header), segments_(segments), count_(count), begin_(begin) {}

  std::uint8_t at(std::uint64_t i) {
    std::uint64_t position = begin_ + i;
    if (position < abi::kEntryHeaderSize) return reinterpret_cast<const std::uint8_t*>(header_)[position];
    position -= abi::kEntryHeaderSize;
    if (!find(position)) return 0;
    return static_cast<const std::uint8_t*>(segments_[segment_].data)[position - start_];
  }

  bool has(std::uint64_t i, const std::byte* what, std::size_t length) {
    for (std::size_t n = 0; n < length; ++n) {
      if (at(i + n) != std::to_integer<std::uint8_t>(what[n])) return false;
    }
    return true;
  }

  bool holds(std::size_t size, const std::byte* pattern, std::size_t length) {
    for (std::size_t i = 0; i + length <= size; ++i) {
      if (has(i, pattern, length)) return true;
    }
    return false;
  }

  // Bytes from here that lie in one segment, and where; none in the header or behind the end.
  FlatText piece_here(std::size_t& size) {
    size = 0;
    if (begin_ < abi::kEntryHeaderSize || !find(begin_ - abi::kEntryHeaderSize)) return {nullptr, 0};
    const std::uint64_t inside = begin_ - abi::kEntryHeaderSize - start_;
    size = segments_[segment_].size - inside;
    return {static_cast<const std::byte*>(segments_[segment_].data) + inside, size};
  }

 private:
  // Makes segment_ the one with this byte of the payload. False when there is none.
  bool find(std::uint64_t position) {
    while (position < start_) start_ -= segments_[--segment_].size;
    for (; segment_ < count_; ++segment_) {
      if (position - start_ < segments_[segment_].size) return true;
      start_ += segments_[segment_].size;
    }
    return false;
  }

  const abi::EntryHeader* header_;
  const arch::Segment* segments_;
  std::size_t count_;
  std::uint64_t begin_;
  std::size_t segment_ = 0;
  std::uint64_t start_ = 0;  // of the segment, in the payload
};

}  // namespace landtrace::filter
