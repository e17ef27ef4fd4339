// Checks of the types that lie in memory which several processes map, compiled apart from one another: a part that
// moved must not compile, rather than be read in the wrong place.
#pragma once

#include <cstddef>
#include <type_traits>

namespace landtrace {

// Bytes that mean the same in every process that maps them.
template <typename T>
concept Shareable = std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>;

}  // namespace landtrace

// LT_SHARED(Type, size, alignment);  at namespace scope, behind the type; then each part that others read:
// LT_SHARED_AT(Type, member, offset);
#define LT_SHARED(type, size, alignment)                                  \
  static_assert(landtrace::Shareable<type>, #type " is not plain bytes"); \
  static_assert(sizeof(type) == (size) && alignof(type) == (alignment), #type " has another size")
#define LT_SHARED_AT(type, member, offset) \
  static_assert(offsetof(type, member) == (offset), #type "::" #member " has moved")
