// Finds what .eh_frame says of an address (LSB core, "Exception Frames"; .eh_frame_hdr is its index).
#pragma once

#include "unwind/bytes.hpp"

namespace landtrace::unwind {

// A frame description entry together with the common entry that it refers to.
struct Fde {
  std::uint64_t begin = 0;  // of the code that it describes
  std::uint64_t end = 0;
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint64_t return_column = 0;
  std::uint8_t pointer_encoding = 0;
  bool is_signal_frame = false;
  bool has_augmentation = false;
  Cursor initial;       // the instructions of the common entry
  Cursor instructions;  // and of its own
};

// False where there is none for `pc`, or what there is makes no sense.
bool find_fde(const Tables& tables, std::uint64_t pc, Fde& fde);

}  // namespace landtrace::unwind
