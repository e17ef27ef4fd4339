#include "client/own_frames.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdint>

#include "plan/stack.hpp"

namespace landtrace::client {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constexpr std::uint32_t kMost = 16;
const void* entries[kMost] = {};
std::uint32_t count = 0;

}  // namespace

// Captures that run meanwhile see the entries there were, or those that are there now: none is ever taken away.
void add_own_frames(std::initializer_list<const void*> functions) {
  pthread_mutex_lock(&lock);
  const std::uint32_t before = count;
  for (const void* const function : functions) {
    const bool is_known = std::find(entries, entries + count, function) != entries + count;
    if (!is_known && count < kMost) entries[count++] = function;
  }
  if (count != before) plan::set_own_frames({entries, count, false});
  pthread_mutex_unlock(&lock);
}

}  // namespace landtrace::client
