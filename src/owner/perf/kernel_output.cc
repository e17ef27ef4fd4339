#include "perf/kernel_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fd.hpp"
#include "base/system_call.hpp"

namespace landtrace::perf {
namespace {

constexpr std::string_view kEventName = "anon_inode:[perf_event]";
// What the kernel has here waits for no one: as large a ring as a user may lock.
constexpr std::size_t kMostPages = 64;

std::byte* map(int fd, std::size_t size) {
  const long mapped = system_call(SYS_mmap, 0L, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped < 0 && mapped > -static_cast<long>(MappedRing::kPage) ? nullptr : reinterpret_cast<std::byte*>(mapped);
}

// Whether a perf event is mapped there: the program may have unmapped it since.
bool maps_event(const void* address, std::size_t size) {
  const auto text = read_file("/proc/self/maps");
  if (!text) return false;
  const std::string begins = fmt::format("{:08x}-{:08x} ", reinterpret_cast<std::uintptr_t>(address),
                                         reinterpret_cast<std::uintptr_t>(address) + size);
  const std::size_t at = text->find(begins);
  if (at == std::string::npos) return false;
  const std::size_t name = text->find(kEventName, at);
  return name != std::string::npos && name < text->find('\n', at);
}

}  // namespace

bool is_kernel_event(int fd) {
  char name[64] = {};
  std::ignore = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), name, sizeof name - 1);
  return std::string_view(name) == kEventName;
}

void KernelOutput::mapped(int fd, void* address, std::size_t size) {
  if (!is_kernel_event(fd)) return;
  mapped_[fd] = {static_cast<std::byte*>(address), size, {}};
}

Result<void> KernelOutput::take_over(int fd, const std::shared_ptr<OutputRing>& to,
                                     const std::optional<Renumbering>& as) {
  for (std::size_t pages = kMostPages; pages > 0; pages /= 2) {
    const std::size_t size = (pages + 1) * MappedRing::kPage;
    std::byte* const address = map(fd, size);
    if (address == nullptr) continue;
    rings_.push_back({address, size, to, as});
    return {};
  }
  return fail(EPERM);
}

// The kernel's ring is moved out of the program's sight, and ours is put there.
Result<std::shared_ptr<OutputRing>> KernelOutput::replace_memory(int fd) {
  const auto found = mapped_.find(fd);
  if (found == mapped_.end()) return fail(EINVAL);
  Mapped& mapped = found->second;
  if (auto known = mapped.replaced.lock()) return known;
  if (!maps_event(mapped.address, mapped.size)) return fail(EINVAL);
  LT_TRY(std::shared_ptr<MappedRing> memory, MappedRing::create(mapped.size / MappedRing::kPage - 1, {}));
  void* const room = ::mmap(nullptr, mapped.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return fail_errno("mmap");
  void* const moved = ::mremap(mapped.address, mapped.size, mapped.size, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (moved == MAP_FAILED) return fail_errno("mremap");
  const long placed = system_call(SYS_mmap, mapped.address, mapped.size, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED, memory->fd(), 0);
  if (placed != reinterpret_cast<long>(mapped.address)) return fail(ENOMEM);
  auto output = std::make_shared<OutputRing>(std::move(memory));
  rings_.push_back({static_cast<std::byte*>(moved), mapped.size, output});
  mapped.replaced = output;
  return output;
}

bool KernelOutput::copy(Ring& ring) {
  const auto output = ring.to.lock();
  if (!output) return false;
  auto& page = *reinterpret_cast<perf_event_mmap_page*>(ring.address);
  const std::uint64_t size = ring.size - MappedRing::kPage;
  // Pairs with the kernel's store behind the records.
  const auto head = static_cast<std::uint64_t>(__atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE));
  std::uint64_t tail = page.data_tail;
  const std::byte* const data = ring.address + MappedRing::kPage;
  const auto copy_from = [&](std::uint64_t from, void* to, std::size_t bytes) {
    const std::size_t first = std::min<std::uint64_t>(bytes, size - (from & (size - 1)));
    std::memcpy(to, data + (from & (size - 1)), first);
    std::memcpy(static_cast<std::byte*>(to) + first, data, bytes - first);
  };
  bool any = false;
  while (head - tail >= sizeof(perf_event_header)) {
    perf_event_header header{};
    copy_from(tail, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - tail) break;
    record_.resize(header.size);
    copy_from(tail, record_.data(), record_.size());
    if (ring.as) renumber(record_, *ring.as);
    if (!output->copy(record_)) break;
    tail += header.size;
    any = true;
  }
  // Pairs with the kernel's load: it may write there again.
  __atomic_store_n(&page.data_tail, tail, __ATOMIC_RELEASE);
  return any;
}

bool KernelOutput::pull() {
  bool any = false;
  std::erase_if(rings_, [](const Ring& ring) {
    if (!ring.to.expired()) return false;
    ::munmap(ring.address, ring.size);
    return true;
  });
  for (Ring& ring : rings_) any |= copy(ring);
  return any;
}

// The kernel does not hand these mappings on to children.
void KernelOutput::forget() {
  rings_.clear();
  mapped_.clear();
}

}  // namespace landtrace::perf
