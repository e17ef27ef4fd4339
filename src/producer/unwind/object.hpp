// The object (program, library, vdso) that an address of this process lies in.
#pragma once

#include "unwind/bytes.hpp"

struct link_map;

namespace landtrace::unwind {

inline constexpr unsigned kMaxBuildId = 20;

struct Object {
  // The addresses that its loader has taken for it.
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  // From the addresses in its file to those in memory.
  std::uint64_t bias = 0;
  // As the loader knows it; empty for the program itself.
  const char* name = "";
  Tables tables;
  std::uint8_t build_id[kMaxBuildId] = {};
  unsigned build_id_size = 0;

  [[nodiscard]] bool holds(std::uint64_t address) const { return address - start < end - start; }
};

// False where no object is known to hold it: for code that was made at run time, and with a C library that cannot tell
// in a signal handler (glibc before 2.35, musl). Async-signal-safe, takes no lock.
bool find_object(std::uint64_t address, Object& object);

// The same where other threads may unload it meanwhile, of which nothing is read but by the kernel (process_vm_readv).
// Without tables; the name is in `name`.
inline constexpr unsigned kMaxObjectName = 512;
bool find_fleeting_object(std::uint64_t address, Object& object, char (&name)[kMaxObjectName]);

}  // namespace landtrace::unwind
