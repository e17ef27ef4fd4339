#include "symbols/elf_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "symbols/regular_file.hpp"

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kMaxSymbolBytes = 512u << 20;  // the largest programs have some 100 MB
constexpr std::uint64_t kMaxNoteBytes = 64u << 10;
constexpr std::uint64_t kMaxNameBytes = 1u << 20;  // of sections
constexpr std::size_t kLongestSectionName = 256;
constexpr unsigned char kOwnData = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// The id in a section of notes.
std::string id_in(const std::string& notes) {
  for (std::size_t at = 0; notes.size() - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    at += sizeof note;
    const std::uint64_t name = (std::uint64_t{note.n_namesz} + 3) & ~3ull;
    const std::uint64_t body = (std::uint64_t{note.n_descsz} + 3) & ~3ull;
    if (name > notes.size() - at || body > notes.size() - at - name) break;
    const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && notes.compare(at, 3, "GNU") == 0;
    if (is_id) return notes.substr(at + name, note.n_descsz);
    at += name + body;
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  LT_TRY(Fd fd, open_regular_file(path));
  return open(std::move(fd), path);
}

Result<ElfFile> ElfFile::open(Fd fd, const std::string& path) {
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return fail(errno, path);
  if (!S_ISREG(st.st_mode)) return fail(EINVAL, path + " is not a file");
  ElfFile file(std::move(fd), static_cast<std::uint64_t>(st.st_size));
  LT_CHECK(file.read_headers());
  return file;
}

Result<void> ElfFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) return fail(EBADMSG, "it ends before what it refers to");
  while (!out.empty()) {
    const ssize_t n = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(n < 0 ? errno : EBADMSG, "it cannot be read");
    out = out.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

Result<void> ElfFile::read_headers() {
  LT_CHECK(read(0, std::as_writable_bytes(std::span(&header_, 1))));
  const bool is_elf = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0;
  if (is_elf && header_.e_ident[EI_CLASS] == ELFCLASS32) return fail(EBADMSG, "an ELF file of 32 bits");
  const bool is_ours = is_elf && header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == kOwnData;
  if (!is_ours) return fail(EBADMSG, "not an ELF file of this machine's kind");
  if (header_.e_shoff == 0 || header_.e_shentsize != sizeof(Elf64_Shdr)) return {};
  sections_.resize(header_.e_shnum);
  return read(header_.e_shoff, std::as_writable_bytes(std::span(sections_)));
}

std::vector<std::string> ElfFile::section_names() const {
  std::vector<std::string> names(sections_.size());
  std::string text;
  if (header_.e_shstrndx >= sections_.size() || !read_section(sections_[header_.e_shstrndx], kMaxNameBytes, text))
    return names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint32_t at = sections_[i].sh_name;
    if (at < text.size())
      names[i].assign(text, at, ::strnlen(text.data() + at, std::min(kLongestSectionName, text.size() - at)));
  }
  return names;
}

std::optional<std::string> ElfFile::contents(const Elf64_Shdr& section, std::uint64_t limit) const {
  std::string bytes;
  if (!read_section(section, limit, bytes)) return std::nullopt;
  return bytes;
}

bool ElfFile::read_section(const Elf64_Shdr& section, std::uint64_t limit, std::string& out) const {
  if (section.sh_type == SHT_NOBITS || section.sh_size > limit || section.sh_size > size_) return false;
  out.resize(section.sh_size);
  return read(section.sh_offset, std::as_writable_bytes(std::span(out))).has_value();
}

Result<std::vector<Elf64_Phdr>> ElfFile::segments() const {
  if (header_.e_phentsize != sizeof(Elf64_Phdr)) return fail(EBADMSG, "program headers of another size");
  std::vector<Elf64_Phdr> segments(header_.e_phnum);
  LT_CHECK(read(header_.e_phoff, std::as_writable_bytes(std::span(segments))));
  return segments;
}

Result<std::uint64_t> ElfFile::first_address() const {
  LT_TRY(const std::vector<Elf64_Phdr> segments, this->segments());
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && segment.p_offset == 0) return segment.p_vaddr;
  }
  return fail(EBADMSG, "no segment has the file's beginning");
}

std::string ElfFile::build_id() const {
  for (const Elf64_Shdr& section : sections_) {
    std::string notes;
    if (section.sh_type != SHT_NOTE || !read_section(section, kMaxNoteBytes, notes)) continue;
    if (std::string id = id_in(notes); !id.empty()) return id;
  }
  return {};
}

ElfFile::SymbolSection ElfFile::symbols(std::uint32_t section_type) const {
  SymbolSection found;
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != section_type || section.sh_link >= sections_.size()) continue;
    std::string bytes;
    if (!read_section(section, kMaxSymbolBytes, bytes)) continue;
    if (!read_section(sections_[section.sh_link], kMaxSymbolBytes, found.names)) continue;
    found.symbols.resize(bytes.size() / sizeof(Elf64_Sym));
    if (found.symbols.empty()) break;
    std::memcpy(found.symbols.data(), bytes.data(), found.symbols.size() * sizeof(Elf64_Sym));
    break;
  }
  return found;
}

}  // namespace landtrace::symbols
