// Memory that a caller of bpf() names: it may not be there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::bpf_calls {

// False where not all of it can be read, or written.
bool copy_from_user(void* to, std::uint64_t from, std::size_t size);
bool copy_to_user(std::uint64_t to, const void* from, std::size_t size);

}  // namespace landtrace::bpf_calls
