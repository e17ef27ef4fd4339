// What the tables say of an address, for the addresses that come again and again. Nearly all frames are left in the
// same way: by a register and an offset for the CFA, and by where below that six registers were saved.
//
//   a place in the cache, in the process's own memory
//
//     0                                    8                                16
//     +------------------------------------+--------------------------------+-----------------------------------+
//     | check: key combined with the other | place: CFA's offset (24 bits), | saved: a byte a register, where   |
//     | two words                          | function's offset (32),        | below the CFA, in words; 0: it    |
//     |                                    | CFA's register (8)             | was left alone                    |
//     +------------------------------------+--------------------------------+-----------------------------------+
//
// Any thread reads and writes it, in signal handlers, too, without a lock and without an order: three relaxed words, of
// which the first says whether all are of one write. What two threads wrote at once, or one has written in part, has a
// check that is no key's. The key holds the object's address and build id, so that what is mapped there later has
// another.
#pragma once

#include "unwind/object.hpp"
#include "unwind/rules.hpp"

namespace landtrace::unwind {

class FrameShape {
 public:
  // False where the rules are of another kind.
  bool take(const Rules& rules, std::uint64_t function_offset);
  [[nodiscard]] std::uint64_t function_offset() const { return (place_ >> 8) & 0xffffffff; }
  // Makes the registers those of the caller, whose pc may be 0; false where the stack cannot be so.
  bool leave(WordReader read, Registers& registers) const;

  // Async-signal-safe.
  static bool find(const Object& object, std::uint64_t pc, FrameShape& shape);
  void keep(const Object& object, std::uint64_t pc) const;

 private:
  std::uint64_t place_ = 0;
  std::uint64_t saved_ = 0;
};

}  // namespace landtrace::unwind
