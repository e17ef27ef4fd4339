#include "agent/near_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace landtrace::agent {
namespace {

constexpr std::size_t kFirstRegion = 64 << 10;
constexpr std::size_t kLargestRegion = 1 << 20;
// Closer than a jump reaches, so that what a copy refers to is in reach, too, nearly always.
constexpr std::uint64_t kNear = 0x6000'0000;
constexpr unsigned kTries = 8;

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

int executable_memfd(std::size_t size) {
  int fd = ::memfd_create("landtrace-probes", MFD_CLOEXEC | MFD_EXEC);
  if (fd < 0) fd = ::memfd_create("landtrace-probes", MFD_CLOEXEC);  // before Linux 6.3
  if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(size)) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

// Between the look at what is mapped and the call, another thread may have taken the room.
void* map_near(int fd, std::uint64_t place, std::size_t size) {
  for (unsigned i = 0; i < kTries; ++i) {
    const std::uint64_t room = find_room(read_maps(), place, size);
    if (room == 0) break;
    void* at = reinterpret_cast<void*>(room);
    void* got = ::mmap(at, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    if (got == at) return got;
    if (got != MAP_FAILED) ::munmap(got, size);
    if (got == MAP_FAILED && errno != EEXIST) break;
  }
  return nullptr;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

NearMemory::Region* NearMemory::add(std::uint64_t place) {
  const std::size_t size = std::min(kFirstRegion << std::min<std::size_t>(regions_.size(), 4), kLargestRegion);
  errno = 0;
  const int fd = executable_memfd(size);
  if (fd < 0) {
    error_ = errno;
    return nullptr;
  }
  void* code = map_near(fd, place, size);
  void* writable = code != nullptr ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  error_ = errno != 0 ? errno : ENOMEM;
  ::close(fd);
  if (writable == MAP_FAILED) {
    if (code != nullptr) ::munmap(code, size);
    return nullptr;
  }
  // A child has no business there: what it would write its parent would run.
  ::madvise(writable, size, MADV_DONTFORK);
  regions_.push_back({reinterpret_cast<std::uint64_t>(code), static_cast<std::uint8_t*>(writable), size, 0});
  return &regions_.back();
}

NearMemory::Piece NearMemory::take(std::uint64_t place, std::size_t size) {
  Region* found = nullptr;
  for (Region& region : regions_) {
    if (region.size - region.used >= size && distance(region.address, place) < kNear) found = &region;
  }
  if (found == nullptr) found = add(place);
  if (found == nullptr) return {};
  last_ = static_cast<std::size_t>(found - regions_.data());
  const Piece piece = {found->address + found->used, found->writable + found->used};
  found->used += size;
  return piece;
}

void NearMemory::untake(std::size_t size) { regions_[last_].used -= size; }

void NearMemory::keep_only(std::span<const std::uint64_t> used) {
  std::erase_if(regions_, [used](const Region& region) {
    for (const std::uint64_t address : used) {
      if (address - region.address < region.size) return false;
    }
    ::munmap(reinterpret_cast<void*>(region.address), region.size);
    if (region.writable != nullptr) ::munmap(region.writable, region.size);
    return true;
  });
}

void NearMemory::leave_as_it_is() {
  for (Region& region : regions_) {
    region.used = region.size;
    region.writable = nullptr;
  }
}

bool NearMemory::holds(std::uint64_t address) const {
  return std::any_of(regions_.begin(), regions_.end(),
                     [address](const Region& region) { return address - region.address < region.size; });
}

std::size_t NearMemory::size() const {
  std::size_t size = 0;
  for (const Region& region : regions_) size += region.size;
  return size;
}

}  // namespace landtrace::agent
