#include "event/name_flags.hpp"

#include "event/declaration.hpp"

namespace landtrace::event {

std::string without_flags(std::string_view declaration) {
  const auto name = declaration.substr(0, declaration.find(' '));
  const auto colon = name.find(':');
  if (colon == std::string_view::npos || declaration.size() >= kMaxDeclaration) return std::string(declaration);
  return std::string(name.substr(0, colon)).append(declaration.substr(name.size()));
}

}  // namespace landtrace::event
