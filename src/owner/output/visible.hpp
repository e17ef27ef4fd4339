// Text of programs on a terminal: what would move the cursor, colour the screen or look like another line is shown as C
// writes it. "\x1b[2J" clears no screen.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::output {

enum class Lines {
  kNone,  // a newline is part of the text
  kKept,  // newlines and tabs are the layout's
};

// Control characters as \n, \t, \r, \x1b; those that are two bytes in UTF-8 as \u009b. All else as it is.
std::string visible(std::string_view text, Lines lines);

// A record as it was printed, which has one line; with a stack, each frame has one of its own.
std::string visible_record(std::string_view text, bool has_stack);

}  // namespace landtrace::output
