// Instances that the program has, by name.
#pragma once

#include <landtrace/trace_events.h>

#include <string>

#include "base/fd.hpp"

// `name` is "" for the top instance, which needs nobody to hold it.
struct trace_array {
  std::string name;
  unsigned references = 0;
  landtrace::Fd hold;  // a connection with a file of the instance open, which keeps it from being removed
};

namespace landtrace::client {

enum class IfMissing { kMake, kFail };
// Takes a reference to the instance. A negative errno if it does not exist and is not to be made.
trace_array* get_array(const char* name, IfMissing if_missing);

}  // namespace landtrace::client
