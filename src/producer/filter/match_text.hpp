// The five ways to compare a text with a pattern, with the kernel's notion of a text's length: that of its field or
// location, NULs included; 0 when the text just runs to its first NUL.
#pragma once

#include "filter/payload_text.hpp"
#include "filter/program.hpp"

namespace landtrace::filter {

// Like fnmatch without recursion: on a mismatch, the last star takes one character more.
template <typename TextAt>
bool matches_glob(TextAt& text, const GlobToken* tokens, std::size_t count) {
  const auto* classes = reinterpret_cast<const std::uint8_t*>(tokens + count);
  const auto accepts = [classes](const GlobToken& token, std::uint8_t c) {
    if (token.kind == GlobToken::kCharacter) return token.value == c;
    if (token.kind == GlobToken::kAnyCharacter) return true;
    return (classes[token.value * kGlobClassBytes + c / 8] >> c % 8 & 1) != 0;
  };
  std::size_t token = 0;
  std::size_t position = 0;
  std::size_t star = count;  // the token behind the last star; count: there was none
  std::size_t star_position = 0;
  for (;;) {
    if (token < count && tokens[token].kind == GlobToken::kAnyText) {
      if (++token == count) return true;
      star = token;
      star_position = position;
      continue;
    }
    const std::uint8_t c = text.at(position);
    if (c == 0) return token == count;
    if (token < count && accepts(tokens[token], c)) {
      ++token;
      ++position;
    } else if (star < count) {
      token = star;
      position = ++star_position;
    } else {
      return false;
    }
  }
}

template <typename TextAt>
std::size_t terminated_length(TextAt& text) {
  std::size_t length = 0;
  while (text.at(length) != 0) ++length;
  return length;
}

template <typename TextAt>
bool matches_text(const Op& op, const std::byte* pool, TextAt text, std::size_t length) {
  const std::byte* pattern = pool + op.pool;
  const std::size_t count = op.count;
  switch (op.code) {
    case OpCode::kEqual:
      return text.has(0, pattern, length == 0 || length > count ? count + 1 : length);
    case OpCode::kPrefix:
      return (length == 0 || length >= count) && text.has(0, pattern, count);
    case OpCode::kInside:
      return text.holds(length == 0 ? terminated_length(text) : length, pattern, count);
    case OpCode::kSuffix:
      return length > count && text.has(length - 1 - count, pattern, count);
    default:
      return matches_glob(text, reinterpret_cast<const GlobToken*>(pattern), count);
  }
}

}  // namespace landtrace::filter
