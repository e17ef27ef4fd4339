// Names of C++ functions for a line of text.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::symbols {

// A demangled name as it is, if it is short; else without template arguments, and if it must be without parameters:
//   landtrace::Event<...>::emit(unsigned int)
//   std::_Rb_tree<...>::_M_insert_(...)
std::string short_name(std::string_view name);

}  // namespace landtrace::symbols
