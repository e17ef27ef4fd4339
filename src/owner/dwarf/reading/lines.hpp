// Source lines.
#pragma once

#include <string_view>

#include "dwarf/answer.hpp"
#include "dwarf/reading/object.hpp"

namespace landtrace::dwarf {

// Where the statements of a line begin: in each function, or copy of one that was inlined, the lowest place; what the
// compiler has put apart as rare counts where nothing of the line stands with the rest. `file` may be the end of its
// path, "main.c", "net/main.c". ENOENT with a sentence: there is no such file, or no code of that line.
Result<LinePlaces> find_line(const Object& object, std::string_view file, int line);

// Why no function of that name can be probed although there is one: it was inlined everywhere. "": there is none.
std::string why_no_function(const Object& object, std::string_view name);

}  // namespace landtrace::dwarf
