// A payload as the evaluator reads it: in one piece, or in several.
#pragma once

#include <cstring>

#include "filter/match_text.hpp"

namespace landtrace::filter {

// A dynamic location, cut to what there is. Positions count from the start of the entry, as in a location.
struct Location {
  std::uint64_t begin;
  std::uint64_t length;
};
inline Location locate(std::uint64_t begin, std::uint64_t length, std::uint64_t payload_size) {
  const std::uint64_t end = payload_size + kHeaderSize;
  if (begin > end) begin = end;
  return {begin, length < end - begin ? length : end - begin};
}

// The usual case: one segment that holds all fields.
class FlatPayload {
 public:
  FlatPayload(const Context& context, const arch::Segment& segment) : context_(context), segment_(segment) {}

  [[nodiscard]] std::uint64_t size() const { return segment_.size; }

  template <typename T>
  [[nodiscard]] T load(std::uint32_t offset) const {
    T value;
    std::memcpy(&value, data() + offset, sizeof value);
    return value;
  }

  [[nodiscard]] bool matches(const Op& op, const std::byte* pool, Location where) const {
    if (where.begin < kHeaderSize) return matches_text(op, pool, scattered(where.begin), where.length);
    const std::uint64_t begin = where.begin - kHeaderSize;
    return matches_text(op, pool, FlatText(data() + begin, segment_.size - begin), where.length);
  }

  [[nodiscard]] ScatteredText scattered(std::uint64_t begin) const { return {context_, &segment_, 1, begin}; }

 private:
  [[nodiscard]] const std::byte* data() const { return static_cast<const std::byte*>(segment_.data); }

  const Context& context_;
  const arch::Segment& segment_;
};

// Several segments, of any size; or too few bytes for the fields.
class ScatteredPayload {
 public:
  ScatteredPayload(const Context& context, const arch::Segment* segments, std::size_t count)
      : context_(context), segments_(segments), count_(count) {
    for (std::size_t i = 0; i < count; ++i) size_ += segments[i].size;
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  template <typename T>
  [[nodiscard]] T load(std::uint32_t offset) const {
    ScatteredText bytes = scattered(std::uint64_t{offset} + kHeaderSize);
    T value;
    std::size_t here = 0;
    const FlatText piece = bytes.piece_here(here);
    if (here >= sizeof value) {
      std::memcpy(&value, piece.data(), sizeof value);
      return value;
    }
    std::uint8_t raw[sizeof value];
    for (std::size_t i = 0; i < sizeof raw; ++i) raw[i] = bytes.at(i);
    std::memcpy(&value, raw, sizeof value);
    return value;
  }

  [[nodiscard]] bool matches(const Op& op, const std::byte* pool, Location where) const {
    ScatteredText text = scattered(where.begin);
    std::size_t here = 0;
    const FlatText piece = text.piece_here(here);
    const bool is_bounded = where.length != 0 && op.code != OpCode::kGlob;
    if (is_bounded && where.length <= here) return matches_text(op, pool, piece, where.length);
    return matches_text(op, pool, text, where.length);
  }

  [[nodiscard]] ScatteredText scattered(std::uint64_t begin) const { return {context_, segments_, count_, begin}; }

 private:
  const Context& context_;
  const arch::Segment* segments_;
  std::size_t count_;
  std::uint64_t size_ = 0;
};

}  // namespace landtrace::filter
