// The jump at a place: how long it is, and what it consists of.
#pragma once

#include <cstdint>
#include <cstring>

#include "agent/recipe.hpp"

namespace landtrace::agent {

inline bool crosses_words(std::uint64_t address, std::uint32_t size = kJumpSize) { return address % 8 + size > 8; }

inline std::uint32_t jump_size(const Recipe& recipe) { return recipe.spring != 0 ? kShortJumpSize : kJumpSize; }

inline void put_long_jump(std::uint64_t from, std::uint64_t to, std::uint8_t* bytes) {
  const auto distance = static_cast<std::int32_t>(to - (from + kJumpSize));
  bytes[0] = 0xe9;
  std::memcpy(bytes + 1, &distance, sizeof distance);
}

}  // namespace landtrace::agent
