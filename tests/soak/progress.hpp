// What the producers of a soak tell their supervisor: a file that all of them map, so that it outlives each of them.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace landtrace::soak {

// How a producer emits.
enum class Kind : std::uint32_t { kNative, kPortable, kShim, kMount };
inline constexpr std::uint32_t kKinds = 4;

inline constexpr const char* kDeclaration = "soak u32 kind; u32 source; u64 sequence; u64 check";

struct Payload {
  std::uint32_t kind;
  std::uint32_t source;
  std::uint64_t sequence;
  std::uint64_t check;
};

// Two halves of a payload that do not belong together show.
inline std::uint64_t check_of(std::uint32_t source, std::uint64_t sequence) {
  return (sequence + 1) * 0x9e3779b97f4a7c15u ^ source * 0xc2b2ae3d27d4eb4fu;
}

// One thread that emits. Only this thread writes; a signal that kills it between two stores leaves it one event that
// may have been emitted or not.
struct alignas(64) Source {
  std::uint64_t begun;    // events that it set out to emit
  std::uint64_t ended;    // … of which it has the answer
  std::uint64_t taken;    // … that was a success: recorded, or counted as lost
  std::uint64_t refused;  // … that was another error than "nobody listens"
};

struct Progress {
  static constexpr std::uint32_t kSources = 1 << 20;

  alignas(64) std::uint32_t stop;     // set by the supervisor: everybody is to end
  std::uint32_t owner_is_killed;      // in this round there may be no owner for a while
  alignas(64) std::uint32_t sources;  // how many there were so far
  Source source[kSources];
};

// The file at `path`; nullptr where it cannot be had. `create`: makes it, with zeros.
inline Progress* map_progress(const char* path, bool create) {
  const int file = ::open(path, create ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0666);
  if (file < 0 || (create && ::ftruncate(file, sizeof(Progress)) != 0)) return nullptr;
  void* const at = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return at == MAP_FAILED ? nullptr : static_cast<Progress*>(at);
}

}  // namespace landtrace::soak
