#include "dwarf/reading/debug_file.hpp"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <optional>

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kLongestBuildId = 64;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_regular(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

Fd open_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return fd && is_regular(fd.get()) ? std::move(fd) : Fd();
}

// Without its DWARF.
std::optional<DebugFile> as_elf(Fd fd) {
  if (!fd) return std::nullopt;
  DebugFile file;
  file.elf.reset(elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr));
  if (!file.elf || elf_kind(file.elf.get()) != ELF_K_ELF) return std::nullopt;
  file.fd = std::move(fd);
  return file;
}

bool has_section(Elf* elf, std::string_view wanted) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && name == wanted) return true;
  }
  return false;
}

bool read_dwarf(DebugFile& file) {
  if (!has_section(file.elf.get(), ".debug_info")) return false;
  file.dwarf.reset(dwarf_begin_elf(file.elf.get(), DWARF_C_READ, nullptr));
  return file.dwarf != nullptr;
}

std::string build_id_of(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size <= 1 || static_cast<std::size_t>(size) > kLongestBuildId) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::string path_by_id(const std::string& folder, std::string_view id) {
  std::string path = folder + "/.build-id/";
  for (std::size_t i = 0; i < id.size(); ++i) {
    path += fmt::format("{:02x}{}", static_cast<unsigned char>(id[i]), i == 0 ? "/" : "");
  }
  return path + ".debug";
}

std::uint32_t checksum(int fd) {
  constexpr std::uint32_t kPolynomial = 0xedb88320;
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t sum = ~0u;
  std::array<unsigned char, 65536> bytes;
  off_t at = 0;
  for (ssize_t n; (n = ::pread(fd, bytes.data(), bytes.size(), at)) > 0; at += n) {
    for (ssize_t i = 0; i < n; ++i) sum = table[(sum ^ bytes[static_cast<std::size_t>(i)]) & 0xff] ^ (sum >> 8);
  }
  return ~sum;
}

// By the name that the linker, or strip, has left in the object.
std::optional<DebugFile> find_by_link(Elf* object, const std::string& path, const std::string& debug_folder) {
  GElf_Word sum = 0;
  const char* const link = dwelf_elf_gnu_debuglink(object, &sum);
  if (link == nullptr || *link == '\0' || std::strchr(link, '/') != nullptr) return std::nullopt;
  const std::string folder = folder_of(path);
  const std::string below = debug_folder + (folder.starts_with('/') ? folder : "/" + folder);
  for (const std::string& place : {folder, folder + ".debug/", below}) {
    auto file = as_elf(open_file(place + link));
    if (!file || !has_section(file->elf.get(), ".debug_info")) continue;
    const std::string id = build_id_of(object);
    const bool is_same = !id.empty() && build_id_of(file->elf.get()) == id;
    if ((is_same || checksum(file->fd.get()) == sum) && read_dwarf(*file)) return file;
  }
  return std::nullopt;
}

std::optional<DebugFile> find_by_id(Elf* object, const std::string& debug_folder) {
  const std::string id = build_id_of(object);
  if (id.empty()) return std::nullopt;
  auto file = as_elf(open_file(path_by_id(debug_folder, id)));
  if (!file || build_id_of(file->elf.get()) != id || !read_dwarf(*file)) return std::nullopt;
  return file;
}

// What dwz has moved to a file for several. libdw would look in its own places, with what build id there may be.
std::optional<DebugFile> find_alternate(Dwarf* main, const std::string& path, const std::string& debug_folder) {
  const char* name = nullptr;
  const void* id_bytes = nullptr;
  const ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(main, &name, &id_bytes);
  if (id_size <= 1 || static_cast<std::size_t>(id_size) > kLongestBuildId || name == nullptr) return std::nullopt;
  const std::string id(static_cast<const char*>(id_bytes), static_cast<std::size_t>(id_size));
  const std::string named = *name == '/' ? name : folder_of(path) + name;
  for (const std::string& place : {path_by_id(debug_folder, id), named}) {
    auto file = as_elf(open_file(place));
    if (file && build_id_of(file->elf.get()) == id && read_dwarf(*file)) return file;
  }
  return std::nullopt;
}

std::string own_path(int fd, const std::string& otherwise) {
  std::array<char, 4096> path;
  const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), path.data(), path.size());
  return size <= 0 ? otherwise : std::string(path.data(), static_cast<std::size_t>(size));
}

}  // namespace

Result<DebugFiles> open_debug_files(Fd object, const std::string& path, const std::string& debug_folder) {
  elf_version(EV_CURRENT);
  DebugFiles files;
  auto elf = as_elf(std::move(object));
  if (!elf) return fail(EBADMSG, path + " is not an ELF file");
  files.object = *std::move(elf);
  std::string found_at = path;
  if (!read_dwarf(files.object)) {
    Elf* const own = files.object.elf.get();
    auto apart = find_by_id(own, debug_folder);
    if (!apart) apart = find_by_link(own, path, debug_folder);
    if (!apart) {
      return fail(ENODATA, fmt::format("{} has no debugging information: compile it with -g, or install its package "
                                       "of debug symbols",
                                       path));
    }
    files.apart = *std::move(apart);
    found_at = own_path(files.apart.fd.get(), path);
  }
  if (auto alternate = find_alternate(files.dwarf(), found_at, debug_folder)) {
    files.alternate = *std::move(alternate);
    dwarf_setalt(files.dwarf(), files.alternate.dwarf.get());
  }
  return files;
}

}  // namespace landtrace::dwarf
