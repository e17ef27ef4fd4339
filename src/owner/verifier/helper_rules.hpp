// What helpers take and give: a row each.
#pragma once

#include <cstdint>

namespace landtrace::verifier {

enum class Argument : std::uint8_t {
  kNone,
  kAnything,  // a number or a pointer
  kNumber,    // a number
  kContext,
  kMap,      // a map of the helper's kinds
  kKey,      // key_size readable bytes
  kValue,    // value_size readable bytes
  kRead,     // readable bytes; the next argument says how many
  kWritten,  // bytes that the helper writes; likewise
  kSize,     // of the one before, at least 1
  kSizeOrZero,
  kRecordSize,  // a constant
  kRecord,      // that the program holds, and holds no more afterwards
};

enum class Returns : std::uint8_t { kNumber, kMapValueOrNull, kRecordOrNull };

struct HelperRule {
  std::uint32_t number;
  const char* name;
  Argument arguments[5];
  Returns returns;
  // Of its map: bit n is bpf_map_type n.
  std::uint64_t map_kinds;
};

// nullptr: programs cannot call it.
const HelperRule* find_helper_rule(std::uint32_t number);

}  // namespace landtrace::verifier
