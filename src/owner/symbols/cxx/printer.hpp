#pragma once

#include <optional>
#include <string>

#include "symbols/cxx/node.hpp"

namespace landtrace::symbols::cxx {

// As GNU's demangler writes it. Nothing if that has more than `most_bytes`, or takes more steps than any text of so
// many bytes that a compiler asks for.
std::optional<std::string> print(const Node& name, std::size_t most_bytes);

}  // namespace landtrace::symbols::cxx
