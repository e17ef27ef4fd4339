// The versions of an object's symbols, which .gnu.version and .gnu.version_d tell. Nothing of them is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf_file.hpp"

namespace landtrace::symbols {

class SymbolVersions {
 public:
  SymbolVersions() = default;
  explicit SymbolVersions(const ElfFile& file);

  struct Version {
    std::string_view name;  // "": it has none. Valid as long as this is.
    // Linkers do not take it for the bare name: it is there for programs that were linked long ago.
    bool is_hidden = false;
  };
  // Of the symbol with that index in .dynsym.
  [[nodiscard]] Version of(std::size_t symbol) const;

 private:
  void read_names(const ElfFile& file, const Elf64_Shdr& section);

  std::vector<std::uint16_t> indices_;  // by symbol
  std::vector<std::string> names_;      // by the index that .gnu.version has
};

// "memcpy@GLIBC_2.2.5", "memcpy@@GLIBC_2.14": as .symtab and people write them.
struct VersionedName {
  std::string_view name;
  std::string_view version;  // "": none
  bool is_hidden = false;    // by one @
};
VersionedName split_version(std::string_view text);

}  // namespace landtrace::symbols
