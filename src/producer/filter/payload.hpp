// A payload as the evaluator reads it: in one piece, or in several.
#pragma once

#include "filter/match_text.hpp"

namespace landtrace::filter {

// The usual case: one segment that holds all fields.
class FlatPayload {
 public:
  FlatPayload(const Context& context, const arch::Segment& segment) : context_(context), segment_(segment) {}

  [[nodiscard]] std::uint64_t size() const { return segment_.size; }

  template <typename T>
  [[nodiscard]] T load(std::uint32_t offset) const {
    return flat().load<T>(offset);
  }

  [[nodiscard]] bool matches(const Op& op, const std::byte* pool, abi::Location where) const {
    if (where.begin < abi::kEntryHeaderSize) return matches_text(op, pool, scattered(where.begin), where.length);
    const std::uint64_t begin = where.begin - abi::kEntryHeaderSize;
    return matches_text(op, pool, FlatText(flat().data() + begin, segment_.size - begin), where.length);
  }

  [[nodiscard]] ScatteredText scattered(std::uint64_t begin) const { return {context_, &segment_, 1, begin}; }

 private:
  [[nodiscard]] abi::FlatPayload flat() const { return abi::FlatPayload(segment_.data); }

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
    return abi::Payload(segments_, count_).load<T>(offset);
  }

  [[nodiscard]] bool matches(const Op& op, const std::byte* pool, abi::Location where) const {
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
