#include "bpf/maps/perf.hpp"

#include <linux/perf_event.h>

#include <cerrno>

#include "bpf/words.hpp"

namespace landtrace::bpf {

// Writes words behind the head, modulo the size.
class PerfSlots::Writer {
 public:
  Writer(std::byte* data, std::uint64_t size, std::uint64_t head) : data_(data), size_(size), head_(head) {}

  void put(std::uint64_t word) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(data_ + (head_ & (size_ - 1) & ~7ull)), word, __ATOMIC_RELAXED);
    head_ += 8;
  }
  [[nodiscard]] std::uint64_t head() const { return head_; }

 private:
  std::byte* data_;
  std::uint64_t size_;
  std::uint64_t head_;
};

namespace {

std::uint64_t record_header(std::uint32_t type, std::uint32_t misc, std::uint64_t size) {
  return type | std::uint64_t{misc} << 32 | size << 48;
}

}  // namespace

int PerfSlots::output(std::uint32_t slot, const std::byte* data, std::uint32_t size) const {
  constexpr std::uint32_t kMaxRaw = 0xffff - 64;
  if (slot >= layout_.max_entries) return -E2BIG;
  if (size > kMaxRaw) return -E2BIG;
  const std::uint64_t bytes = load_relaxed(word(slot, kPerfDataSize));
  if (bytes < kMapPage || bytes > kPerfSlotBytes || (bytes & (bytes - 1)) != 0) return -ENOENT;
  // Behind a u32 with their size, all of it a multiple of 8.
  const std::uint64_t raw = rounded(std::uint64_t{size} + 4, 8);
  const std::uint64_t lost = load_relaxed(this->lost(slot)) - load_relaxed(told(slot));
  const std::uint64_t total = 8 + raw + (lost != 0 ? 24 : 0);
  const std::uint64_t head = load_relaxed(word(slot, kPerfDataHead)) & ~7ull;
  // Pairs with the reader's store: what it has read may be overwritten.
  const std::uint64_t tail = __atomic_load_n(word(slot, kPerfDataTail), __ATOMIC_ACQUIRE);
  if (head + total - tail > bytes) {
    __atomic_fetch_add(this->lost(slot), 1, __ATOMIC_RELAXED);
    return -ENOSPC;
  }
  Writer writer(base_ + std::uint64_t{slot} * layout_.stride + kMapPage, bytes, head);
  if (lost != 0) {
    writer.put(record_header(PERF_RECORD_LOST, 0, 24));
    writer.put(0);
    writer.put(lost);
    __atomic_fetch_add(told(slot), lost, __ATOMIC_RELAXED);
  }
  writer.put(record_header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + raw));
  std::uint64_t word_now = raw - 4;
  std::uint32_t have = 4;  // bytes of it
  for (std::uint32_t i = 0; i < size; ++i) {
    word_now |= std::to_integer<std::uint64_t>(data[i]) << 8 * have;
    if (++have < 8) continue;
    writer.put(word_now);
    word_now = 0;
    have = 0;
  }
  if (have != 0) writer.put(word_now);
  // Publishes the sample: pairs with the reader's acquire load.
  __atomic_store_n(word(slot, kPerfDataHead), writer.head(), __ATOMIC_RELEASE);
  return 0;
}

}  // namespace landtrace::bpf
