#include "filter/find_text.hpp"

#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace landtrace::filter {
namespace {

bool is_at(const std::byte* text, const std::byte* pattern, std::size_t length) {
  return text[0] == pattern[0] && std::memcmp(text, pattern, length) == 0;
}

// Tries `count` positions one by one.
bool holds_at_one_of(const std::byte* text, std::size_t count, const std::byte* pattern, std::size_t length) {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_at(text + i, pattern, length)) return true;
  }
  return false;
}

#ifdef __SSE2__
// Sixteen positions at a time: those where the pattern's first and last byte stand are looked at.
class Block {
 public:
  static constexpr std::size_t kPositions = 16;

  Block(const std::byte* pattern, std::size_t length)
      : pattern_(pattern),
        length_(length),
        first_(_mm_set1_epi8(static_cast<char>(pattern[0]))),
        last_(_mm_set1_epi8(static_cast<char>(pattern[length - 1]))) {}

  [[nodiscard]] bool holds(const std::byte* text) const {
    const __m128i heads = _mm_cmpeq_epi8(first_, load(text));
    const __m128i tails = _mm_cmpeq_epi8(last_, load(text + length_ - 1));
    auto candidates = static_cast<unsigned>(_mm_movemask_epi8(_mm_and_si128(heads, tails)));
    for (; candidates != 0; candidates &= candidates - 1) {
      if (std::memcmp(text + __builtin_ctz(candidates), pattern_, length_) == 0) return true;
    }
    return false;
  }

 private:
  static __m128i load(const std::byte* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

  const std::byte* pattern_;
  std::size_t length_;
  __m128i first_;
  __m128i last_;
};
#endif

}  // namespace

bool holds_text(const std::byte* text, std::size_t size, const std::byte* pattern, std::size_t length) {
  if (length == 0) return true;
  if (size < length) return false;
  const std::size_t positions = size - length + 1;
#ifdef __SSE2__
  if (positions >= Block::kPositions) {
    const Block block(pattern, length);
    std::size_t at = 0;
    for (; at + Block::kPositions <= positions; at += Block::kPositions) {
      if (block.holds(text + at)) return true;
    }
    // The last block overlaps the one before it, so that nothing behind the text is read.
    return at < positions && block.holds(text + positions - Block::kPositions);
  }
#endif
  return holds_at_one_of(text, positions, pattern, length);
}

}  // namespace landtrace::filter
