// Words that are written to files.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace landtrace::tracefs {

struct Word {
  std::string_view text;  // empty: there was only white space
  std::size_t taken = 0;  // bytes up to here, with the separator behind the word
};

// The first word, as set_event and set_event_pid take it: white space before it is skipped, and white space or a NUL
// ends it. EINVAL: it has more than 127 bytes.
Result<Word> next_word(std::string_view bytes);

// Without the NUL that a C program may have written with its string.
inline std::string_view until_nul(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

}  // namespace landtrace::tracefs
