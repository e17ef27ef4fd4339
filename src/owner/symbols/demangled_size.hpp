// How long a C++ name gets when it is demangled. Whoever makes a file can have a name of 200 bytes stand for gigabytes:
// each template has the one before as two of its arguments, by substitutions, which the linker's name has to say once
// and the text each time. The C++ library's demangler has no limit to its memory or time.
#pragma once

#include <cstdint>
#include <string_view>

namespace landtrace::symbols {

// At least as many bytes as the text of the name has, which begins with _Z; of names as compilers make them not many
// times that. ~0 where it is not found out.
std::uint64_t demangled_size_at_most(std::string_view name);

}  // namespace landtrace::symbols
