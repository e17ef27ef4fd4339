// How a program under the shim says which of its enable words are registered, in its own memory.
//
// An owner keeps a list of words, and so does what it leaves for the next one. But a program may give a word up, and use its
// memory for something else, while there is nobody to tell. So the shim keeps a claim for each word, and tells the owner
// where it is when it registers; the next owner looks at it before it touches the word. A forked child has copies of the
// claims with the copies of the words.
#pragma once

#include <cstdint>

namespace landtrace::ipc {

struct Claim {
  static constexpr std::uint32_t kMagic = 0x6d6c434c;  // "LClm"

  std::uint64_t address;  // of the enable word
  std::uint32_t bit;
  std::uint32_t magic;  // 0: given up

  [[nodiscard]] bool is_valid(std::uint64_t word_address, std::uint32_t word_bit) const {
    return magic == kMagic && address == word_address && bit == word_bit;
  }
};
static_assert(sizeof(Claim) == 16);

}  // namespace landtrace::ipc
