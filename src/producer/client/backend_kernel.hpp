// The kernel's own user_events, for programs on the native API where there is no domain.
#pragma once

#include <cstdint>
#include <sys/uio.h>

#include "base/result.hpp"

namespace landtrace::client::kernel {

// Registers the declaration with `word` as its enable word; returns the write index. ENOENT where no tracefs serves
// user_events.
Result<std::int32_t> register_event(const char* declaration, std::uint16_t flags, std::uint32_t* word);
void unregister_event(std::uint32_t* word);

// One writev; 0 or a negative errno. Async-signal-safe.
int write_event(std::int32_t index, const iovec* vectors, int count);

}  // namespace landtrace::client::kernel
