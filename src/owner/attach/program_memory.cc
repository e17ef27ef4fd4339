#include "attach/program_memory.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace landtrace::attach {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t up(std::uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }
constexpr std::uint64_t down(std::uint64_t address) { return address & ~(kPage - 1); }

constexpr std::uint16_t kHiddenVersion = 0x8000;
// Of one hash; more have only files that are made to be slow.
constexpr int kMostInChain = 4096;

std::uint32_t hash_of(const std::string& name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

Result<ProgramMemory> ProgramMemory::open(std::uint32_t pid) {
  Fd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return fail_errno(fmt::format("/proc/{}/mem", pid));
  return ProgramMemory(std::move(memory), pid);
}

bool ProgramMemory::read(std::uint64_t address, void* to, std::size_t size) const {
  return ::pread(memory_.get(), to, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

bool ProgramMemory::write(std::uint64_t address, const void* from, std::size_t size) const {
  return ::pwrite(memory_.get(), from, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

// Of memory that is not a process's any more 0 bytes can be read; of a page that is not mapped EIO comes back.
bool ProgramMemory::is_gone() const {
  char byte;
  return ::pread(memory_.get(), &byte, 1, 0) == 0;
}

Result<std::vector<MappedRange>> ProgramMemory::ranges() const {
  LT_TRY(const std::string text, read_file(fmt::format("/proc/{}/maps", pid_), 256u << 20));
  return mapped_ranges(text);
}

std::optional<MappedObject> MappedObject::read(const ProgramMemory& memory, const std::string& path,
                                               std::uint64_t begin) {
  Elf64_Ehdr header;
  if (!memory.read(begin, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > 256) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!memory.read(begin + header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return std::nullopt;
  MappedObject object;
  object.path_ = path;
  bool has_first = false;
  Extent dynamic;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && !std::exchange(has_first, true)) object.bias_ = begin - down(segment.p_vaddr);
    const Extent extent{object.bias_ + segment.p_vaddr, object.bias_ + segment.p_vaddr + segment.p_memsz};
    if (segment.p_type == PT_DYNAMIC) dynamic = extent;
    if (segment.p_type != PT_LOAD) continue;
    if ((segment.p_flags & PF_X) == 0) continue;
    object.code_.push_back(extent);
    object.rests_.push_back({extent.end, up(extent.end)});
  }
  if (!has_first) return std::nullopt;
  object.read_dynamic(memory, dynamic.begin, dynamic.end - dynamic.begin);
  return object;
}

bool MappedObject::read_dynamic(const ProgramMemory& memory, std::uint64_t address, std::uint64_t size) {
  constexpr std::uint64_t kMost = 1 << 20;
  std::vector<Elf64_Dyn> entries(std::min(size, kMost) / sizeof(Elf64_Dyn));
  if (address == 0 || !memory.read(address, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return false;
  for (const Elf64_Dyn& entry : entries) {
    // The loader may have put addresses in the place of what the file has.
    const std::uint64_t at = entry.d_un.d_ptr < bias_ ? entry.d_un.d_ptr + bias_ : entry.d_un.d_ptr;
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SYMTAB) symbols_ = at;
    if (entry.d_tag == DT_STRTAB) names_ = at;
    if (entry.d_tag == DT_GNU_HASH) hash_ = at;
    if (entry.d_tag == DT_VERSYM) versions_ = at;
    if (entry.d_tag == DT_DEBUG) debug_ = entry.d_un.d_ptr, is_told_ = true;
  }
  return true;
}

bool MappedObject::is_told_that_all_is_loaded(const ProgramMemory& memory) const {
  r_debug list{};
  return debug_ != 0 && memory.read(debug_, list) && list.r_map != nullptr && list.r_state == r_debug::RT_CONSISTENT;
}

// By the table of hashes that all objects of today have.
std::uint64_t MappedObject::find(const ProgramMemory& memory, const std::string& symbol) const {
  struct {
    std::uint32_t buckets, first, bloom_words, bloom_shift;
  } head;
  if (symbols_ == 0 || names_ == 0 || hash_ == 0 || !memory.read(hash_, head) || head.buckets == 0) return 0;
  const std::uint64_t buckets = hash_ + sizeof head + std::uint64_t{head.bloom_words} * 8;
  const std::uint64_t chain = buckets + std::uint64_t{head.buckets} * 4;
  const std::uint32_t hash = hash_of(symbol);
  std::uint32_t index = 0;
  if (!memory.read(buckets + std::uint64_t{hash % head.buckets} * 4, index) || index < head.first) return 0;
  std::uint64_t found = 0;
  for (int i = 0; i < kMostInChain; ++i, ++index) {
    std::uint32_t entry = 0;
    if (!memory.read(chain + std::uint64_t{index - head.first} * 4, entry)) return found;
    Elf64_Sym candidate;
    std::string name(symbol.size() + 1, '?');
    const bool is_it = (entry | 1) == (hash | 1) && memory.read(symbols_ + index * sizeof candidate, candidate) &&
                       candidate.st_shndx != SHN_UNDEF &&
                       memory.read(names_ + candidate.st_name, name.data(), name.size()) &&
                       std::strcmp(name.c_str(), symbol.c_str()) == 0;
    if (is_it) {
      std::uint16_t version = 0;
      if (versions_ != 0) memory.read(versions_ + std::uint64_t{index} * 2, version);
      if (found == 0 || (version & kHiddenVersion) == 0) found = bias_ + candidate.st_value;
    }
    if ((entry & 1) != 0) return found;
  }
  return found;
}

std::vector<MappedObject> objects_in(const ProgramMemory& memory, const std::vector<MappedRange>& ranges,
                                     std::size_t most) {
  std::vector<MappedObject> objects;
  for (const MappedRange& range : ranges) {
    if (objects.size() == most) break;
    if (range.offset != 0 || range.path.empty() || range.path[0] != '/') continue;
    auto object = MappedObject::read(memory, range.path, range.begin);
    if (!object || object->code().empty()) continue;
    // A file that is only looked at is mapped, too, and has no code where it says.
    const MappedRange* const code = range_of(ranges, object->code().front().begin);
    if (code != nullptr && code->is_executable && code->path == range.path) objects.push_back(*std::move(object));
  }
  return objects;
}

}  // namespace landtrace::attach
