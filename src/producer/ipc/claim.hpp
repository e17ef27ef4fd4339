// How a program under the shim says which of its enable words are registered, in its own memory.
//
//   a claim, in a table that the shim maps (preload/claims.cc)
//
//     0                    8       12       16
//     +--------------------+-------+--------+    magic  kMagic: the word is registered; 0: it was given up
//     | address of the word| bit   | magic  |           anything else: it is being filled in
//     +--------------------+-------+--------+
//
// An owner keeps a list of words, and so does the journal that it leaves to the next one. But a program may give a word
// up, and use its memory for something else, while there is nobody to tell. So the shim keeps a claim for each word,
// and tells the owner where it is when it registers; the next owner reads it out of the program's memory before it
// touches the word. A forked child has copies of the claims with the copies of the words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::ipc {

struct Claim {
  static constexpr std::uint32_t kMagic = 0x6d6c434c;  // "LClm"

  // Of the enable word.
  std::uint64_t address;
  std::uint32_t bit;
  std::uint32_t magic;

  [[nodiscard]] bool is_valid(std::uint64_t word_address, std::uint32_t word_bit) const {
    return magic == kMagic && address == word_address && bit == word_bit;
  }
};
LT_SHARED(Claim, 16, 8);
LT_SHARED_AT(Claim, address, 0);
LT_SHARED_AT(Claim, bit, 8);
LT_SHARED_AT(Claim, magic, 12);

}  // namespace landtrace::ipc
