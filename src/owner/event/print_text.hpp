// What the printers of fields have in common. Internal to the event layer.
#pragma once

#include <cstring>
#include <string>

#include "abi/entry.hpp"
#include "event/declaration.hpp"

namespace landtrace::event {

using abi::Bytes;

inline void print_text(std::string& out, Bytes bytes) {
  if (bytes.empty()) return;
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  out.append(text, ::strnlen(text, bytes.size()));
}

// What stands behind "name=", of an event of a program.
void print_value(std::string& out, const Field& field, Bytes payload);

// For what is not all in the payload.
inline constexpr const char* kOverflow = "<OVERFLOW>";

}  // namespace landtrace::event
