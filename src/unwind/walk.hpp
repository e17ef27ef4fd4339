// The way from frame to frame, for whoever has registers, memory and objects: this process's, or another's.
#pragma once

#include "unwind/capture.hpp"
#include "unwind/step.hpp"

namespace landtrace::unwind {

// Finds the object that holds an address; nullptr where none does. What it returns is valid until the next call.
struct ObjectFinder {
  const Object* (*function)(void* self, std::uint64_t address);
  void* self;
};

class Walk {
 public:
  // `registers` are those at the pc itself, not a caller's.
  Walk(const Registers& registers, WordReader read, ObjectFinder objects)
      : registers_(registers), read_(read), objects_(objects) {}

  struct Frame {
    std::uint64_t pc;
    const Object* object;        // nullptr: none
    std::uint64_t function = 0;  // where the function begins; 0: not known
  };
  // The frame that the walk has come to. Looks it up.
  Frame look();
  // To its caller, after look(). False where there is none, or it cannot be found.
  bool go_on();

 private:
  Registers registers_;
  WordReader read_;
  ObjectFinder objects_;
  bool is_return_address_ = false;  // the call itself stands before it, perhaps in another entry
  const Object* object_ = nullptr;
  bool has_fde_ = false;
  Fde fde_;
};

}  // namespace landtrace::unwind
