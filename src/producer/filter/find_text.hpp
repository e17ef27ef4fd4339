// memmem() that is fast on texts of a few dozen bytes, and safe in a signal handler.
#pragma once

#include <cstddef>

namespace landtrace::filter {

// Whether the `size` bytes at `text` hold the `length` bytes at `pattern`.
bool holds_text(const std::byte* text, std::size_t size, const std::byte* pattern, std::size_t length);

}  // namespace landtrace::filter
