#include "bpf_calls/map_memory.hpp"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "base/system_call.hpp"
#include "bpf/maps/ring.hpp"
#include "bpf_calls/objects.hpp"

namespace landtrace::bpf_calls {
namespace {

bool is_mapped_ring(const Object* object) {
  return object != nullptr && object->kind == Kind::kMap && object->layout.kind == bpf::kRingbuf &&
         __atomic_load_n(&object->is_mapped, __ATOMIC_RELAXED);
}

bool is_error(long result) { return result < 0 && result >= -4095; }

// Of shared memory an old size of 0 makes a second mapping.
long put_at(std::byte* to, const std::byte* from, std::size_t size) {
  return system_call(SYS_mremap, from, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

struct Wanted {
  void* address;
  std::size_t size;
  int protection;
  int flags;
};

// The pages from `first` on; beyond the map's end once more from `again` on.
long map_pages(const Wanted& wanted, const std::byte* first, std::size_t there, const std::byte* again) {
  // Takes the place, so that nobody else does.
  const long at = system_call(
      SYS_mmap, wanted.address, wanted.size, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (wanted.flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)), -1, 0);
  if (is_error(at)) return at;
  auto* const to = reinterpret_cast<std::byte*>(at);
  const std::size_t once = wanted.size < there ? wanted.size : there;
  long result = put_at(to, first, once);
  if (!is_error(result) && once < wanted.size) result = put_at(to + once, again, wanted.size - once);
  if (!is_error(result)) result = system_call(SYS_mprotect, to, wanted.size, wanted.protection);
  if (!is_error(result)) return at;
  system_call(SYS_munmap, to, wanted.size);
  return result;
}

long map_array(const Object& map, const Wanted& wanted, std::uint64_t offset) {
  if ((map.layout.flags & BPF_F_MMAPABLE) == 0) return -ENOTSUP;
  if (offset > map.layout.bytes || wanted.size > map.layout.bytes - offset) return -EINVAL;
  return map_pages(wanted, map.data + map.layout.place + offset, wanted.size, nullptr);
}

long map_ring(const Object& map, const Wanted& wanted, std::uint64_t offset) {
  const std::size_t data = map.layout.max_entries;
  const std::size_t whole = 2 * std::size_t{bpf::kMapPage} + 2 * data;
  const bool writes = (wanted.protection & PROT_WRITE) != 0;
  if (writes && (offset != 0 || wanted.size != bpf::kMapPage)) return -EPERM;
  if (offset > whole || wanted.size > whole - offset) return -EINVAL;
  const std::byte* const begin = map.data + map.layout.place;
  const std::size_t once = 2 * std::size_t{bpf::kMapPage} + data;
  if (offset >= once) return map_pages(wanted, begin + offset - data, wanted.size, nullptr);
  return map_pages(wanted, begin + offset, once - offset, begin + 2 * std::size_t{bpf::kMapPage});
}

}  // namespace

std::optional<long> map_memory(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
  if (!has_descriptors()) return std::nullopt;
  const ObjectRef map = Objects::get().find(fd, Kind::kMap);
  if (map == nullptr) return std::nullopt;
  const std::size_t whole = bpf::rounded(size, bpf::kMapPage);
  if (size == 0 || whole < size || offset < 0 || offset % bpf::kMapPage != 0) return -EINVAL;
  // As the kernel's: what is written is for others to see, and nothing of it is run.
  if ((flags & (MAP_SHARED | MAP_PRIVATE)) != MAP_SHARED) return -EINVAL;
  if ((protection & PROT_EXEC) != 0) return -EPERM;
  const Wanted wanted{address, whole, protection, flags};
  const bool is_ring = map->layout.kind == bpf::kRingbuf;
  const bool writes = (protection & PROT_WRITE) != 0;
  if (!map->may_be_read() || (writes && (map->layout.flags & (BPF_F_RDONLY | BPF_F_RDONLY_PROG)) != 0)) return -EACCES;
  if (writes && !map->may_be_changed()) return -EPERM;
  if (!is_ring && map->layout.kind != bpf::kArray) return -ENOTSUP;
  const long at = is_ring ? map_ring(*map, wanted, static_cast<std::uint64_t>(offset))
                          : map_array(*map, wanted, static_cast<std::uint64_t>(offset));
  if (is_error(at)) return at;
  __atomic_store_n(&map->is_mapped, true, __ATOMIC_RELAXED);
  return at;
}

bool is_mapped_ring(int fd) { return is_mapped_ring(described(fd).object.get()); }

bool show(int fd, bool has_any) {
  std::uint64_t number = 1;
  // What was read makes it unreadable; what is written, once, readable.
  system_call(SYS_read, fd, &number, sizeof number);
  number = 1;
  if (has_any) system_call(SYS_write, fd, &number, sizeof number);
  return has_any;
}

bool show_rings() {
  bool found = false;
  each_descriptor([&](int fd, const Described& what) {
    const Object* const map = what.object.get();
    // It may have been closed behind our back, and another file have its number.
    if (!is_mapped_ring(map) || inode_of(fd) != map->inode) return;
    found |= show(fd, bpf::RecordRing(map->data, map->layout).is_readable());
  });
  return found;
}

}  // namespace landtrace::bpf_calls
