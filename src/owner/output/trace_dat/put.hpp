// A value as its bytes lie in memory: what the writers of files append.
#pragma once

#include <string>

namespace landtrace::output::trace_dat {

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace landtrace::output::trace_dat
