// The files in which a program's debugging information is.
#pragma once

#include <elfutils/libdw.h>

#include <memory>
#include <string>

#include "base/fd.hpp"

namespace landtrace::dwarf {

struct CloseElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct CloseDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

// An open file and what libdw has of it. In the order in which they may be taken down.
struct DebugFile {
  Fd fd;
  std::unique_ptr<Elf, CloseElf> elf;
  std::unique_ptr<Dwarf, CloseDwarf> dwarf;
};

struct DebugFiles {
  DebugFile object;     // the program or library; it may have the information itself
  DebugFile apart;      // else where it is
  DebugFile alternate;  // what dwz has taken out of several

  [[nodiscard]] Dwarf* dwarf() const { return apart.dwarf ? apart.dwarf.get() : object.dwarf.get(); }
};

// `path`: what the open object is called. Looks into the object itself, then in `debug_folder` for its build id, then
// for the name in .gnu_debuglink beside it, in .debug beside it, and in `debug_folder` under its folder. ENODATA with a
// sentence: there is none.
Result<DebugFiles> open_debug_files(Fd object, const std::string& path, const std::string& debug_folder);

}  // namespace landtrace::dwarf
