// Input: an ELF file. Its first bytes are made those of one for this machine, so that what follows is looked at.
// Whatever it holds: nothing outside of it is read, and what is found is consistent.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "symbols/debug_file.hpp"
#include "symbols/symbols.hpp"
#include "symbols/usdt_notes.hpp"
#include "symbols/versions.hpp"

namespace {

using namespace landtrace::symbols;

void require(bool condition) {
  if (!condition) std::abort();
}

// One file that takes on each input.
int shared_file() {
  static const int fd = ::memfd_create("elf", MFD_CLOEXEC);
  return fd;
}
const std::string& path() {
  static const std::string path = "/proc/self/fd/" + std::to_string(shared_file());
  return path;
}

void put(std::string bytes) {
  Elf64_Ehdr header;
  if (bytes.size() >= sizeof header) {
    std::memcpy(&header, bytes.data(), sizeof header);
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    // Headers mostly lie in the file, and are of the right size.
    if (header.e_version % 8 != 0) {
      header.e_shentsize = sizeof(Elf64_Shdr);
      header.e_phentsize = sizeof(Elf64_Phdr);
      header.e_shoff %= bytes.size();
      header.e_phoff %= bytes.size();
      header.e_shnum %= 16;
      header.e_phnum %= 16;
    }
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  require(::ftruncate(shared_file(), 0) == 0);
  require(::pwrite(shared_file(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

void look_at(const FunctionTable& table, std::uint64_t address) {
  const auto found = table.find(address);
  const auto range = table.holding(address);
  if (range) require(range->begin <= address && address < range->end);
  if (found) require(found->name.data() != nullptr && found->name.find('\0') == std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  put({reinterpret_cast<const char*>(data), size});
  const auto file = ElfFile::open(path());
  if (!file) return 0;
  const std::string id = file->build_id();
  require(id.size() <= size);
  const std::uint64_t first = file->first_address().value_or(0);
  for (const UsdtNote& note : read_usdt_notes(*file)) {
    require(!note.provider.empty() && !note.name.empty() && note.offset < size);
    require(note.provider.size() + note.name.size() + note.arguments.size() <= size && note.counter_offset < size);
  }
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    ElfFile::SymbolSection section = file->symbols(type);
    require(section.symbols.size() * sizeof(Elf64_Sym) <= size && section.names.size() <= size);
    std::vector<std::uint64_t> addresses{0, 1, first, ~0ull};
    for (const Elf64_Sym& symbol : section.symbols) {
      addresses.push_back(symbol.st_value);
      addresses.push_back(symbol.st_value + symbol.st_size - 1);
      addresses.push_back(symbol.st_value + symbol.st_size);
    }
    const FunctionTable table(std::move(section));
    for (const std::uint64_t address : addresses) look_at(table, address);
    for (const AddressRange& range : table.named([](std::string_view) { return true; }))
      require(range.begin <= range.end);
  }
  const SymbolVersions versions(*file);
  for (std::size_t i = 0; i <= size / 2 + 1; ++i) {
    const SymbolVersions::Version version = versions.of(i);
    require(version.name.size() <= size && (!version.is_hidden || !version.name.empty()));
  }
  // Whatever .gnu_debuglink says: there is no file in these folders, and no other is looked at.
  require(!find_debug_file(*file, "/nonexistent/input", "/nonexistent"));
  Symbols symbols("/nonexistent");
  std::ignore = symbols.find(path(), id, first);
  std::ignore = symbols.named(path(), id, "main");
  std::ignore = symbols.holding(path(), id, first + 1);
  return 0;
}
