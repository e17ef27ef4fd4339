// A value in a program, and how a fetch argument gets at it: "req->status" as "+8(%si):s32".
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "dwarf/reading/type.hpp"

namespace landtrace::dwarf {

// The error is a sentence about the value that goes on behind its name: "is a double: …".
template <typename T>
using OrWhy = tl::expected<T, std::string>;
inline tl::unexpected<std::string> why(std::string text) { return tl::unexpected<std::string>(std::move(text)); }

struct Value {
  enum class Kind : std::uint8_t {
    kMemory,    // what is `offset` behind where `base` points
    kAbsolute,  // what `number` names, the distance of "@+"
    kSum,       // `base` + `offset` itself; in a register
    kPieces,    // in several registers; `offset` bytes in
    kConstant,  // `number`
  };
  struct Piece {
    std::uint64_t begin = 0;  // which bytes it has
    std::uint64_t size = 0;
    std::string base;  // "": none that can be fetched
  };
  Kind kind = Kind::kSum;
  std::string base = {};  // a fetch argument: "%di", "+8(%si)"
  std::int64_t offset = 0;
  std::uint64_t number = 0;
  std::vector<Piece> pieces = {};
  bool is_in_frame = false;  // kMemory: in the call's own frame, where it comes only after the function has begun
  Type type = {};
  unsigned bits = 0;  // of a bit field
  std::uint64_t first_bit = 0;
};

// Damaged files have numbers that are too large for a sum.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

Value in_memory(std::string base, std::int64_t offset, const Type& type);
Value in_register(std::string base, const Type& type);

// What a reference refers to; other values as they are.
OrWhy<Value> without_reference(Value value);
// VALUE->name and VALUE.name: which of them is written makes no difference.
OrWhy<Value> member_of_value(Value value, std::string_view name);
// VALUE[index]
OrWhy<Value> element_of_value(Value value, std::int64_t index);

// "FETCH:TYPE". `type` is what was asked for; "": as the debugging information says.
OrWhy<std::string> fetch_text(Value value, std::string_view type);

}  // namespace landtrace::dwarf
