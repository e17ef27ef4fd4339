// A part of the last events, as the page draws it: each event where there are few, else how many there are in each
// column.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ui/recent.hpp"

namespace landtrace::ui {

struct ThreadName {
  std::int32_t tgid = 0;
  std::string comm = {};
};

struct TimelinePart {
  std::uint64_t from_us = 0;
  std::uint64_t to_us = 0;  // 0: up to the last; then `from_us` is how long
  std::size_t columns = 0;
};

// JSON. It has a lane for each of the threads with the most events in it, by process and number, and none of the events
// of others; losses are all in it.
std::string timeline(const Recent& recent, const TimelinePart& part,
                     const std::function<ThreadName(std::int32_t)>& name_of);

}  // namespace landtrace::ui
