#include "perf/kernel_ring.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "perf/output_ring.hpp"

namespace landtrace::perf {

KernelRing::~KernelRing() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

void KernelRing::look() {
  look_again();
  rest_ = head_;
}

void KernelRing::look_again() {
  if (address_ == nullptr) return;
  // Pairs with the kernel's store behind the records.
  head_ = static_cast<std::uint64_t>(__atomic_load_n(&page().data_head, __ATOMIC_ACQUIRE));
  tail_ = page().data_tail;
}

void KernelRing::copy_from(std::uint64_t from, void* to, std::size_t bytes) const {
  const std::byte* const data = address_ + MappedRing::kPage;
  const std::uint64_t size = size_ - MappedRing::kPage;
  const std::size_t first = std::min<std::uint64_t>(bytes, size - (from & (size - 1)));
  std::memcpy(to, data + (from & (size - 1)), first);
  std::memcpy(static_cast<std::byte*>(to) + first, data, bytes - first);
}

bool KernelRing::read_record(std::uint64_t end) {
  if (end < tail_ + sizeof(perf_event_header)) return false;
  perf_event_header header{};
  copy_from(tail_, &header, sizeof header);
  if (header.size < sizeof header || header.size > end - tail_) return false;
  record_.resize(header.size);
  copy_from(tail_, record_.data(), record_.size());
  return true;
}

template <typename IsMeant>
bool KernelRing::copy(std::uint64_t end, OutputRing& to, const IsMeant& is_meant) {
  const std::uint64_t before = tail_;
  while (read_record(end) && is_meant()) {
    if (as_) renumber(record_, *as_);
    if (!to.copy(record_)) break;
    tail_ += record_.size();
  }
  if (tail_ == before) return false;
  // Pairs with the kernel's load: it may write there again.
  __atomic_store_n(&page().data_tail, tail_, __ATOMIC_RELEASE);
  return true;
}

bool KernelRing::copy_until(std::uint64_t time, OutputRing& to) {
  return copy(head_, to, [&] { return !as_ || time_of(record_, as_->sample_type).value_or(0) <= time; });
}

bool KernelRing::copy_rest(OutputRing& to) {
  return copy(rest_, to, [] { return true; });
}

}  // namespace landtrace::perf
