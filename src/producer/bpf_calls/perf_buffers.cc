#include "bpf_calls/perf_buffers.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <bit>
#include <cerrno>

#include "base/system_call.hpp"
#include "bpf/maps/perf.hpp"
#include "bpf_calls/map_memory.hpp"
#include "bpf_calls/timers.hpp"

namespace landtrace::bpf_calls {
namespace {

std::uint64_t* word_of(std::byte* header, std::uint32_t at) { return reinterpret_cast<std::uint64_t*>(header + at); }

bool has_samples(std::byte* header) {
  // Pairs with the release store in PerfSlots::output().
  return __atomic_load_n(word_of(header, bpf::kPerfDataHead), __ATOMIC_ACQUIRE) !=
         __atomic_load_n(word_of(header, bpf::kPerfDataTail), __ATOMIC_RELAXED);
}

}  // namespace

struct PerfBuffer {
  std::byte* pages = nullptr;
  std::size_t size = 0;
  // In the map's slot; nullptr: it is in none.
  std::byte* header = nullptr;
  // The slot is not another map's memory before nobody looks there.
  ObjectRef map{};
  // Of the descriptor.
  std::uint64_t inode = 0;

  // Nobody reads there any more; the pages are the tool's to unmap.
  void leave_slot() {
    if (header != nullptr) __atomic_store_n(word_of(header, bpf::kPerfDataSize), 0, __ATOMIC_RELAXED);
    header = nullptr;
  }
  PerfBuffer() = default;
  ~PerfBuffer() { leave_slot(); }
  PerfBuffer(const PerfBuffer&) = delete;
  PerfBuffer& operator=(const PerfBuffer&) = delete;
};

bool wants_perf_buffers() { return Objects::get().has_map_of(bpf::kPerfEventArray); }

int open_perf_buffer(bool close_on_exec) {
  const long fd = system_call(SYS_eventfd2, 0, EFD_NONBLOCK | (close_on_exec ? EFD_CLOEXEC : 0));
  if (fd < 0) return static_cast<int>(fd);
  const auto buffer = std::make_shared<PerfBuffer>();
  buffer->inode = inode_of(static_cast<int>(fd));
  describe(static_cast<int>(fd), {.buffer = buffer});
  return static_cast<int>(fd);
}

bool is_perf_buffer(int fd) { return described(fd).buffer != nullptr; }

long map_perf_buffer(int fd, std::size_t size) {
  const std::size_t data = size - bpf::kMapPage;
  if (size <= bpf::kMapPage || data % bpf::kMapPage != 0 || !std::has_single_bit(data)) return -EINVAL;
  if (data > bpf::kPerfSlotBytes) return -ENOMEM;
  const PerfBufferRef buffer = described(fd).buffer;
  const Held held;
  if (buffer == nullptr || buffer->pages != nullptr) return -EINVAL;
  const long pages = system_call(SYS_mmap, static_cast<void*>(nullptr), size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages < 0 && pages >= -4095) return pages;
  buffer->pages = reinterpret_cast<std::byte*>(pages);
  buffer->size = size;
  return pages;
}

long connect_perf_buffer(const ObjectRef& map, std::uint32_t slot, int fd) {
  if (slot >= map->layout.max_entries) return -E2BIG;
  const PerfBufferRef buffer = described(fd).buffer;
  // Behind the lock: it may have been in another map's slot, and the last that held that.
  ObjectRef held_map = map;
  const Held held;
  if (buffer == nullptr || buffer->pages == nullptr) return -EBADF;
  const bpf::PerfSlots slots(map->data, map->layout);
  auto* const header = reinterpret_cast<std::byte*>(slots.word(slot, 0));
  // Of shared memory an old size of 0 makes a second mapping.
  const long moved = system_call(SYS_mremap, header, 0, buffer->size, MREMAP_MAYMOVE | MREMAP_FIXED, buffer->pages);
  if (moved < 0 && moved >= -4095) return moved;
  buffer->leave_slot();
  // Whoever was there before is not to empty the slot when it goes.
  each_descriptor([&](int, const Described& other) {
    if (other.buffer != nullptr && other.buffer->header == header) other.buffer->header = nullptr;
  });
  buffer->header = header;
  std::swap(buffer->map, held_map);
  const std::uint64_t head = __atomic_load_n(word_of(header, bpf::kPerfDataHead), __ATOMIC_RELAXED);
  __atomic_store_n(word_of(header, bpf::kPerfDataTail), head, __ATOMIC_RELAXED);
  __atomic_store_n(word_of(header, bpf::kPerfDataOffset), bpf::kMapPage, __ATOMIC_RELAXED);
  // From here on producers write: without an acquire as its partner, since what they use besides is theirs.
  __atomic_store_n(word_of(header, bpf::kPerfDataSize), buffer->size - bpf::kMapPage, __ATOMIC_RELEASE);
  return 0;
}

void perf_buffers_after_fork() {
  each_descriptor([](int, const Described& what) {
    if (what.buffer != nullptr) what.buffer->header = nullptr;
  });
}

bool show_perf_buffers() {
  run_due_timers();
  bool found = show_rings();
  each_descriptor([&](int fd, const Described& what) {
    const PerfBuffer* const buffer = what.buffer.get();
    // It may have been closed behind our back, and another file have its number.
    if (buffer == nullptr || buffer->header == nullptr || inode_of(fd) != buffer->inode) return;
    found |= show(fd, has_samples(buffer->header));
  });
  return found;
}

}  // namespace landtrace::bpf_calls
