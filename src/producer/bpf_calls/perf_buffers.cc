#include "bpf_calls/perf_buffers.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <bit>
#include <cerrno>
#include <map>
#include <new>

#include "base/system_call.hpp"
#include "bpf/maps/perf.hpp"
#include "bpf_calls/map_memory.hpp"
#include "bpf_calls/timers.hpp"

namespace landtrace::bpf_calls {
namespace {

struct Buffer {
  std::byte* pages = nullptr;
  std::size_t size = 0;
  // In the map's slot; nullptr: it is in none.
  std::byte* header = nullptr;
};

struct Buffers {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::map<int, Buffer> by_fd;
  std::size_t count = 0;
};

// Never destroyed: threads may go on after main().
Buffers& buffers() {
  alignas(Buffers) static std::byte memory[sizeof(Buffers)];
  static Buffers* const made = new (memory) Buffers;
  return *made;
}

class BuffersHeld {
 public:
  BuffersHeld() { ::pthread_mutex_lock(&buffers().mutex); }
  ~BuffersHeld() {
    __atomic_store_n(&buffers().count, buffers().by_fd.size(), __ATOMIC_RELAXED);
    ::pthread_mutex_unlock(&buffers().mutex);
  }
  BuffersHeld(const BuffersHeld&) = delete;
  BuffersHeld& operator=(const BuffersHeld&) = delete;
};

bool has_none() { return __atomic_load_n(&buffers().count, __ATOMIC_RELAXED) == 0; }

std::uint64_t* word_of(std::byte* header, std::uint32_t at) { return reinterpret_cast<std::uint64_t*>(header + at); }

bool has_samples(const Buffer& one) {
  // Pairs with the release store in PerfSlots::output().
  return one.header != nullptr && __atomic_load_n(word_of(one.header, bpf::kPerfDataHead), __ATOMIC_ACQUIRE) !=
                                      __atomic_load_n(word_of(one.header, bpf::kPerfDataTail), __ATOMIC_RELAXED);
}

}  // namespace

bool wants_perf_buffers() { return Objects::get().has_map_of(bpf::kPerfEventArray); }

int open_perf_buffer(bool close_on_exec) {
  const long fd = system_call(SYS_eventfd2, 0, EFD_NONBLOCK | (close_on_exec ? EFD_CLOEXEC : 0));
  if (fd < 0) return static_cast<int>(fd);
  const BuffersHeld held;
  buffers().by_fd[static_cast<int>(fd)] = {};
  return static_cast<int>(fd);
}

bool is_perf_buffer(int fd) {
  if (has_none()) return false;
  const BuffersHeld held;
  return buffers().by_fd.count(fd) != 0;
}

long map_perf_buffer(int fd, std::size_t size) {
  const std::size_t data = size - bpf::kMapPage;
  if (size <= bpf::kMapPage || data % bpf::kMapPage != 0 || !std::has_single_bit(data)) return -EINVAL;
  if (data > bpf::kPerfSlotBytes) return -ENOMEM;
  const BuffersHeld held;
  const auto found = buffers().by_fd.find(fd);
  if (found == buffers().by_fd.end() || found->second.pages != nullptr) return -EINVAL;
  const long pages = system_call(SYS_mmap, static_cast<void*>(nullptr), size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages < 0 && pages >= -4095) return pages;
  found->second.pages = reinterpret_cast<std::byte*>(pages);
  found->second.size = size;
  return pages;
}

long connect_perf_buffer(const Object& map, std::uint32_t slot, int fd) {
  if (slot >= map.layout.max_entries) return -E2BIG;
  const BuffersHeld held;
  const auto found = buffers().by_fd.find(fd);
  if (found == buffers().by_fd.end() || found->second.pages == nullptr) return -EBADF;
  Buffer& buffer = found->second;
  const bpf::PerfSlots slots(map.data, map.layout);
  auto* const header = reinterpret_cast<std::byte*>(slots.word(slot, 0));
  // Of shared memory an old size of 0 makes a second mapping.
  const long moved = system_call(SYS_mremap, header, 0, buffer.size, MREMAP_MAYMOVE | MREMAP_FIXED, buffer.pages);
  if (moved < 0 && moved >= -4095) return moved;
  buffer.header = header;
  const std::uint64_t head = __atomic_load_n(word_of(header, bpf::kPerfDataHead), __ATOMIC_RELAXED);
  __atomic_store_n(word_of(header, bpf::kPerfDataTail), head, __ATOMIC_RELAXED);
  __atomic_store_n(word_of(header, bpf::kPerfDataOffset), bpf::kMapPage, __ATOMIC_RELAXED);
  // From here on producers write: without an acquire as its partner, since what they use besides is theirs.
  __atomic_store_n(word_of(header, bpf::kPerfDataSize), buffer.size - bpf::kMapPage, __ATOMIC_RELEASE);
  return 0;
}

void forget_perf_buffer(int fd) {
  if (has_none()) return;
  const BuffersHeld held;
  const auto found = buffers().by_fd.find(fd);
  if (found == buffers().by_fd.end()) return;
  // Nobody reads there any more; the pages are the tool's to unmap.
  if (found->second.header != nullptr)
    __atomic_store_n(word_of(found->second.header, bpf::kPerfDataSize), 0, __ATOMIC_RELAXED);
  buffers().by_fd.erase(found);
}

bool show_perf_buffers() {
  run_due_timers();
  bool found = show_rings();
  if (has_none()) return found;
  const BuffersHeld held;
  for (const auto& [fd, buffer] : buffers().by_fd) {
    std::uint64_t number = 1;
    const bool has_any = has_samples(buffer);
    // What was read makes it unreadable; what is written, once, readable.
    system_call(SYS_read, fd, &number, sizeof number);
    number = 1;
    if (has_any) system_call(SYS_write, fd, &number, sizeof number);
    found |= has_any;
  }
  return found;
}

}  // namespace landtrace::bpf_calls
