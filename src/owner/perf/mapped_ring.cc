#include "perf/mapped_ring.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace landtrace::perf {

MappedRing::MappedRing(Fd memory, Mapping mapping, Way way)
    : memory_(std::move(memory)), mapping_(std::move(mapping)), size_(mapping_.size() - kPage), way_(way) {
  page().data_offset = kPage;
  page().data_size = size_;
}

Result<std::shared_ptr<MappedRing>> MappedRing::create(std::size_t data_pages, Way way) {
  const std::size_t bytes = (data_pages + 1) * kPage;
  LT_TRY(Fd memory, create_memfd("landtrace-perf", bytes));
  LT_TRY(Mapping mapping, Mapping::map(memory.get(), bytes, Mapping::Access::kReadWrite));
  return std::shared_ptr<MappedRing>(new MappedRing(std::move(memory), std::move(mapping), way));
}

std::uint64_t MappedRing::tail() const {
  // Pairs with the program's store, behind which it does not read what was there any more.
  return __atomic_load_n(&page().data_tail, __ATOMIC_ACQUIRE);
}

std::uint64_t MappedRing::unread() const {
  const std::uint64_t from = way_.overwrites ? seen_ : tail();
  return std::min(way_.backward ? from - head_ : head_ - from, size_);
}

bool MappedRing::fits(std::size_t record) const {
  return record <= size_ && (way_.overwrites || size_ - unread() >= record);
}

bool MappedRing::is_mapped_besides() const {
  struct stat own {};
  const auto text = read_file("/proc/self/maps");
  if (!text || ::fstat(memory_.get(), &own) != 0) return true;
  const std::string inode = " " + std::to_string(own.st_ino) + " ";
  const std::size_t first = text->find(inode);
  return first != std::string::npos && text->find(inode, first + 1) != std::string::npos;
}

void MappedRing::write(std::span<const std::byte> record) {
  if (way_.backward) head_ -= record.size();
  const std::uint64_t at = head_ & (size_ - 1);
  const std::size_t first = std::min<std::uint64_t>(record.size(), size_ - at);
  std::byte* const data = mapping_.data() + kPage;
  std::memcpy(data + at, record.data(), first);
  std::memcpy(data, record.data() + first, record.size() - first);
  if (!way_.backward) head_ += record.size();
  ++written_;
}

void MappedRing::publish() {
  __u64& head = page().data_head;
  // Pairs with the program's load, behind which it reads the records.
  if (__atomic_load_n(&head, __ATOMIC_RELAXED) != head_) __atomic_store_n(&head, head_, __ATOMIC_RELEASE);
}

}  // namespace landtrace::perf
