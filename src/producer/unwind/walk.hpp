// The way from frame to frame, for whoever has registers, memory and objects: this process's, or another's.
#pragma once

#include "unwind/capture.hpp"
#include "unwind/step.hpp"
#include "unwind/step_cache.hpp"

namespace landtrace::unwind {

// Finds the object that holds an address; nullptr where none does. What it returns is valid until the next call.
struct ObjectFinder {
  const Object* (*function)(void* self, std::uint64_t address);
  void* self;
};

class Walk {
 public:
  // Whether the objects are this process's own, whose tables say the same whenever they are asked.
  enum class Cache : std::uint8_t { kNone, kOwnObjects };

  // `registers` are those at the pc itself, not a caller's.
  Walk(const Registers& registers, WordReader read, ObjectFinder objects, Cache cache)
      : registers_(registers), read_(read), objects_(objects), cache_(cache) {}

  struct Frame {
    std::uint64_t pc;
    const Object* object;        // nullptr: none
    std::uint64_t function = 0;  // where the function begins; 0: not known
  };
  // Looks up the frame that the walk has come to.
  Frame look();
  // To its caller, after look(). False where there is none, or it cannot be found.
  bool go_on();

 private:
  [[nodiscard]] std::uint64_t place() const { return registers_.pc() - (is_return_address_ ? 1 : 0); }
  Step step_by_table(std::uint64_t pc);

  Registers registers_;
  WordReader read_;
  ObjectFinder objects_;
  // The call itself stands before the pc, perhaps in another table entry.
  bool is_return_address_ = false;
  const Object* object_ = nullptr;
  Cache cache_;
  // The cache knows how to leave the frame.
  bool has_shape_ = false;
  FrameShape shape_;
  bool has_fde_ = false;
  Fde fde_;
};

}  // namespace landtrace::unwind
