// The parts of the FUSE protocol that libfuse 3.14 does not pass on: the kind of a request, and flags of newer kernels.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace landtrace::fuse::wire {

struct Request {
  std::uint32_t opcode = 0;
  std::uint64_t unique = 0;
  std::uint32_t thread = 0;  // who asks
  // Of READ and WRITE: the handle.
  std::uint64_t file = 0;
  // READ for the page cache: a page fault, or splice().
  bool is_cached_read = false;
  // INIT: the kernel can map files that are read past the page cache.
  bool may_map_direct_io = false;
};
// `bytes` is what one read() of /dev/fuse gave: a whole request.
Request parse(std::span<const std::byte> bytes);

[[nodiscard]] bool is_init(const Request& request);
[[nodiscard]] bool is_read(const Request& request);
[[nodiscard]] bool is_write(const Request& request);
[[nodiscard]] bool is_interrupt(const Request& request);

// The answer to OPEN with flags that libfuse has no field for.
struct OpenAnswer {
  std::uint64_t file;
  std::uint32_t flags;
  std::int32_t backing = 0;
};
static_assert(sizeof(OpenAnswer) == 16);
inline constexpr std::uint32_t kDirectIo = 1u << 0;
inline constexpr std::uint32_t kNonSeekable = 1u << 2;
// The file has no position, so that threads that share a descriptor do not wait for each other.
inline constexpr std::uint32_t kStream = 1u << 4;
inline constexpr std::uint32_t kParallelWrites = 1u << 6;

// Whether these bytes to the kernel are the answer to a request.
[[nodiscard]] bool answers(std::span<const std::byte> answer, std::uint64_t unique);
// Adds "files read past the page cache can be mapped" to an answer to INIT, in place.
void allow_mapping_direct_io(std::span<std::byte> init_answer);

}  // namespace landtrace::fuse::wire
