// What .eh_frame says of an object's functions, also of those that were stripped of their names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "code/image.hpp"

namespace landtrace::code {

struct Frame {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t exceptions = 0;  // address of its table of landing pads; 0: none
  // A signal handler's: begins a byte before the code, as unwinders look up a call's address less 1.
  bool is_signal = false;
  bool has_no_return_address = false;  // at its beginning
};

// The frames in a section of that address, ascending. Ends at the first that is damaged.
std::vector<Frame> read_frames(std::string_view section, std::uint64_t address);

// Where the table that PT_GNU_EH_FRAME points to says that .eh_frame begins; 0: nowhere.
std::uint64_t frames_of_index(Reader& reader, std::uint64_t index);

// The landing pads of a frame, appended to `pads`, at most `budget`, which is less afterwards by those.
void read_landing_pads(Reader& reader, const Frame& frame, std::size_t& budget, std::vector<std::uint64_t>& pads);

}  // namespace landtrace::code
