// glibc made _dl_find_object for unwinders: it is lock-free, and safe in signal handlers. It tells the mapped range and
// where .eh_frame_hdr is; the rest stands in the object's program headers, which its first page holds. Only what a
// readable PT_LOAD maps is looked at: between two of them there may be nothing.
#include "unwind/object.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace landtrace::unwind {
namespace {

#ifdef DLFO_STRUCT_HAS_EH_DBASE

constexpr std::uint64_t kPage = 4096;

// The program headers, or nullptr where the object does not begin as objects do.
const ElfW(Phdr) * program_headers(const Object& object, unsigned& count) {
  if (object.end - object.start < kPage) return nullptr;
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(object.start);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return nullptr;
  count = header->e_phnum;
  if (header->e_phoff > kPage || count * sizeof(ElfW(Phdr)) > kPage - header->e_phoff) return nullptr;
  return reinterpret_cast<const ElfW(Phdr)*>(object.start + header->e_phoff);
}

void add_range(const ElfW(Phdr) & part, Object& object) {
  const std::uint64_t begin = std::max(object.bias + part.p_vaddr, object.start);
  const std::uint64_t end = std::min(object.bias + part.p_vaddr + part.p_filesz, object.end);
  Tables& tables = object.tables;
  if ((part.p_flags & PF_R) == 0 || begin >= end || tables.count == Tables::kMaxRanges) return;
  tables.ranges[tables.count++] = {begin, reinterpret_cast<const std::byte*>(begin), end - begin};
}

void take_build_id(const ElfW(Phdr) & part, Object& object) {
  Cursor notes(object.tables, object.bias + part.p_vaddr);
  notes.limit(part.p_filesz);
  while (!notes.at_end()) {
    const auto name_size = notes.take<std::uint32_t>();
    const auto size = notes.take<std::uint32_t>();
    const auto type = notes.take<std::uint32_t>();
    const auto name = name_size == 4 ? notes.take<std::uint32_t>() : 0;
    constexpr std::uint32_t kGnu = 'G' | 'N' << 8 | 'U' << 16;
    if (name_size != 4) notes.skip((std::uint64_t{name_size} + 3) & ~std::uint64_t{3});
    if (name == kGnu && type == NT_GNU_BUILD_ID) {
      object.build_id_size = std::min(size, kMaxBuildId);
      for (unsigned i = 0; i < object.build_id_size; ++i) object.build_id[i] = notes.take<std::uint8_t>();
      return;
    }
    notes.skip((std::uint64_t{size} + 3) & ~std::uint64_t{3});
  }
}

#endif

}  // namespace

bool find_object(std::uint64_t address, Object& object) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object found{};
  if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  object = {};
  object.start = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
  object.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
  if (found.dlfo_link_map != nullptr) {
    object.bias = found.dlfo_link_map->l_addr;
    if (found.dlfo_link_map->l_name != nullptr) object.name = found.dlfo_link_map->l_name;
  }
  unsigned count = 0;
  const ElfW(Phdr)* const parts = program_headers(object, count);
  if (parts == nullptr) return true;
  for (unsigned i = 0; i < count; ++i) {
    if (parts[i].p_type == PT_LOAD) add_range(parts[i], object);
  }
  for (unsigned i = 0; i < count && object.build_id_size == 0; ++i) {
    if (parts[i].p_type == PT_NOTE) take_build_id(parts[i], object);
  }
  object.tables.header = reinterpret_cast<std::uint64_t>(found.dlfo_eh_frame);
  return true;
#else
  static_cast<void>(address);
  static_cast<void>(object);
  return false;
#endif
}

}  // namespace landtrace::unwind
