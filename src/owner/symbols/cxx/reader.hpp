#pragma once

#include "symbols/cxx/node.hpp"

namespace landtrace::symbols::cxx {

// The tree of a linker's name, whose texts are in `name`. Null: it is none, or takes more steps than a compiler's name.
const Node* read(std::string_view name, Tree& tree);

}  // namespace landtrace::symbols::cxx
