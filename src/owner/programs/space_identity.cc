#include "programs/space_identity.hpp"

#include <linux/auxvec.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/fd.hpp"

namespace landtrace::programs {

// The kernel gives every program that it starts 16 random bytes (AT_RANDOM), and says where they are. The number is a
// hash of the bytes and not the bytes themselves, which are the program's secret: stack protectors are made of them.
std::uint64_t space_identity(std::uint32_t pid, int mem) {
  const auto vector = read_file("/proc/" + std::to_string(pid) + "/auxv", 1 << 16);
  if (!vector) return 0;
  std::uint64_t pair[2] = {};
  for (std::size_t at = 0; at + sizeof pair <= vector->size(); at += sizeof pair) {
    std::memcpy(pair, vector->data() + at, sizeof pair);
    if (pair[0] == AT_RANDOM) break;
  }
  char bytes[16];
  // If the process has called exec since `mem` was opened the address is the new program's, and `mem` reads nothing any
  // more.
  if (pair[0] != AT_RANDOM ||
      ::pread(mem, bytes, sizeof bytes, static_cast<off_t>(pair[1])) != static_cast<ssize_t>(sizeof bytes)) {
    return 0;
  }
  std::uint64_t hash = 0xcbf29ce484222325 ^ pair[1];  // FNV-1a
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash | 1;  // never 0, which means that it is not known
}

}  // namespace landtrace::programs
