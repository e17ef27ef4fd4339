#include "segments/control_memory.hpp"

namespace landtrace::segments {

using plan::ControlSegment;

ControlMemory::ControlMemory(Fd fd, Mapping mapping)
    : fd_(std::move(fd)), mapping_(std::move(mapping)), heap_(sizeof(ControlSegment), plan::kControlBytes) {}

Result<ControlMemory> ControlMemory::create(const Shape& shape) {
  LT_TRY(Fd fd, create_memfd("landtrace-control", plan::kControlFileBytes));
  LT_TRY(Mapping mapping, Mapping::map(fd.get(), plan::kControlFileBytes, Mapping::Access::kReadWrite));
  LT_CHECK(seal_against_new_writers(fd.get()));
  auto& segment = *reinterpret_cast<ControlSegment*>(mapping.data());
  segment.version = plan::kLayoutVersion;
  segment.raw_clock = shape.raw_clock;
  segment.cpus = shape.cpus;
  segment.claimed = shape.claimed;
  segment.data_bytes = shape.data_bytes;
  segment.abi = shape.abi;

  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&segment.owner_alive, &attributes);
  pthread_mutexattr_destroy(&attributes);
  segment.magic = plan::kControlMagic;
  return ControlMemory(std::move(fd), std::move(mapping));
}

void ControlMemory::mark_owner_alive() { pthread_mutex_lock(&segment().owner_alive); }

Result<std::uint32_t> ControlMemory::allocate(std::uint64_t size, std::uint64_t alignment) {
  auto offset = heap_.allocate(size, alignment);
  while (!offset && room_maker_ != nullptr && room_maker_->give_way_entirely())
    offset = heap_.allocate(size, alignment);
  if (!offset) return fail(ENOSPC, "the domain's control segment is full");
  return static_cast<std::uint32_t>(*offset);
}

Result<std::uint32_t> ControlMemory::store(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0u;
  LT_TRY(const std::uint32_t offset, allocate(bytes.size(), 8));
  std::memcpy(at(offset), bytes.data(), bytes.size());
  return offset;
}

}  // namespace landtrace::segments
