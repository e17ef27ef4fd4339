// The places that a program or library has for probes, as <sys/sdt.h> writes them into its file (.note.stapsdt), and
// Debian's python3 and libstdc++ have them. The file is not trusted: a damaged one gives wrong places, but no more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf_file.hpp"

namespace landtrace::symbols {

struct UsdtNote {
  std::string provider;
  std::string name;
  std::string arguments;      // as the note has them: "8@%rbp -4@112(%rsp)"
  std::uint64_t address = 0;  // of the place, in the file
  std::uint64_t offset = 0;   // the same from the file's beginning
  // Of its semaphore, which says in a program how many listen: address, and offset in the file. 0: none; and an offset
  // of 0 where the file has no bytes of it.
  std::uint64_t counter = 0;
  std::uint64_t counter_offset = 0;
};

// In the order of the file; none of an object without. Those that lie in nothing that is loaded as code are left out.
std::vector<UsdtNote> read_usdt_notes(const ElfFile& file);

}  // namespace landtrace::symbols
