// An ELF file as a source of function names. The file is not trusted: a damaged one may give wrong names, but no
// more. Every offset is checked, and it is read with pread, as a mapping would end in SIGBUS when somebody truncates
// the file.
#pragma once

#include <elf.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::symbols {

class ElfFile {
 public:
  // EBADMSG: not a 64-bit ELF file of this machine's byte order; EINVAL: not a regular file, and not opened; what
  // open(2) says.
  static Result<ElfFile> open(const std::string& path);
  // The same for an open file, which is called `path` in messages.
  static Result<ElfFile> open(Fd fd, const std::string& path);

  [[nodiscard]] const Elf64_Ehdr& header() const { return header_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  // Of each section of sections(); "" where none can be read.
  [[nodiscard]] std::vector<std::string> section_names() const;
  [[nodiscard]] Result<std::vector<Elf64_Phdr>> segments() const;
  // All of `out`, or EBADMSG: the file ends sooner.
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;
  // A section's bytes; nothing if it has none, or more than `limit`.
  [[nodiscard]] std::optional<std::string> contents(const Elf64_Shdr& section, std::uint64_t limit) const;

  // NT_GNU_BUILD_ID; empty if the file has none.
  [[nodiscard]] std::string build_id() const;
  // The address at which the file's first byte is loaded: subtract it from an address in the file to get the distance
  // from the object's beginning. EBADMSG: no segment loads the first byte.
  [[nodiscard]] Result<std::uint64_t> first_address() const;
  struct SymbolSection {
    std::vector<Elf64_Sym> symbols;
    std::string names;
  };
  // The symbols of the section of type SHT_SYMTAB or SHT_DYNSYM; empty if there is no such section.
  [[nodiscard]] SymbolSection symbols(std::uint32_t section_type) const;

 private:
  ElfFile(Fd fd, std::uint64_t size) : fd_(std::move(fd)), size_(size) {}
  Result<void> read_headers();
  [[nodiscard]] bool read_section(const Elf64_Shdr& section, std::uint64_t limit, std::string& out) const;

  Fd fd_;
  std::uint64_t size_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace landtrace::symbols
