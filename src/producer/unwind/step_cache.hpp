// What the tables say of an address, for the addresses that come again and again: nearly all frames are left alike, by a
// register and an offset for the CFA and by where six registers were saved. A place in the cache is three words, read
// and written without a lock; the first is the key combined with the other two, so that one that two threads wrote at once
// is taken for neither's. The key holds the object's address and build id: what is mapped there later is another.
#pragma once

#include "unwind/object.hpp"
#include "unwind/rules.hpp"

namespace landtrace::unwind {

class FrameShape {
 public:
  // False where the rules are of another kind.
  bool take(const Rules& rules, std::uint64_t function_offset);
  [[nodiscard]] std::uint64_t function_offset() const { return (place_ >> 8) & 0xffffffff; }
  // To the caller, whose pc may be 0; false where the stack cannot be so.
  bool leave(WordReader read, Registers& registers) const;

  // Async-signal-safe.
  static bool find(const Object& object, std::uint64_t pc, FrameShape& shape);
  void keep(const Object& object, std::uint64_t pc) const;

 private:
  std::uint64_t place_ = 0;  // the CFA's register, the function's offset (32 bits), the CFA's offset (24)
  std::uint64_t saved_ = 0;  // a byte for each register: where below the CFA, in words; 0: it was left alone
};

}  // namespace landtrace::unwind
