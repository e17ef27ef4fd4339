// glibc made _dl_find_object for unwinders: it is lock-free, and safe in signal handlers. It tells the mapped range and
// where .eh_frame_hdr is; the rest stands in the object's program headers, which its first page holds. Only what a
// readable PT_LOAD maps is looked at: between two of them there may be nothing.
#include "unwind/object.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace landtrace::unwind {
namespace {

#ifdef DLFO_STRUCT_HAS_EH_DBASE

constexpr std::uint64_t kPage = 4096;

// The program headers, or nullptr where the object does not begin as objects do. `page` is its first one.
const ElfW(Phdr) * program_headers(const std::byte* page, unsigned& count) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(page);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return nullptr;
  count = header->e_phnum;
  if (header->e_phoff > kPage || count * sizeof(ElfW(Phdr)) > kPage - header->e_phoff) return nullptr;
  return reinterpret_cast<const ElfW(Phdr)*>(page + header->e_phoff);
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

// How many bytes of it are there.
std::size_t copy(const void* from, void* to, std::size_t size) {
  const iovec here{to, size};
  const iovec there{const_cast<void*>(from), size};
  const ssize_t copied = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

void copy_name(const char* from, char (&name)[kMaxObjectName]) {
  // Up to the end of its page: behind it there may be nothing, and then nothing is copied.
  const std::size_t left = kPage - reinterpret_cast<std::uintptr_t>(from) % kPage;
  std::size_t size = copy(from, name, std::min<std::size_t>(left, kMaxObjectName - 1));
  if (size == left && ::strnlen(name, size) == size) size += copy(from + size, name + size, kMaxObjectName - 1 - size);
  name[size] = '\0';
}

// Of the notes as many as have a place on the stack.
void copy_build_id(const ElfW(Phdr) & part, Object& object) {
  constexpr std::size_t kMostNotes = 512;
  std::byte notes[kMostNotes];
  const std::uint64_t at = object.bias + part.p_vaddr;
  const std::size_t size = std::min<std::size_t>(part.p_filesz, sizeof notes);
  if (at < object.start || at + size > object.end) return;
  if (copy(reinterpret_cast<const void*>(at), notes, size) != size) return;  // NOLINT(performance-no-int-to-ptr)
  object.tables.ranges[0] = {at, notes, size};
  object.tables.count = 1;
  ElfW(Phdr) copied = part;
  copied.p_filesz = size;
  take_build_id(copied, object);
  object.tables = {};
}

#endif

}  // namespace

bool find_fleeting_object(std::uint64_t address, Object& object, char (&name)[kMaxObjectName]) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object found{};
  if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  object = {};
  object.start = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
  object.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
  object.name = name;
  link_map map{};
  if (copy(found.dlfo_link_map, &map, sizeof map) != sizeof map) return false;
  object.bias = map.l_addr;
  copy_name(map.l_name, name);
  alignas(ElfW(Ehdr)) std::byte page[kPage];
  if (copy(found.dlfo_map_start, page, sizeof page) != sizeof page) return false;
  unsigned count = 0;
  const ElfW(Phdr)* const parts = program_headers(page, count);
  for (unsigned i = 0; parts != nullptr && i < count && object.build_id_size == 0; ++i) {
    if (parts[i].p_type == PT_NOTE) copy_build_id(parts[i], object);
  }
  return true;
#else
  static_cast<void>(address);
  static_cast<void>(object);
  static_cast<void>(name);
  return false;
#endif
}

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
  if (object.end - object.start < kPage) return true;
  unsigned count = 0;
  const ElfW(Phdr)* const parts = program_headers(reinterpret_cast<const std::byte*>(object.start), count);
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
