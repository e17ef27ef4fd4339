// The ring of a kernel's event whose records go to the same memory as samples of the domain's events: among them, by
// time.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "perf/sample.hpp"
#include "perf/tracker.hpp"

namespace landtrace::perf {

class OutputRing;

class KernelRing {
 public:
  // The event's mapping, which is the ring's from here on. Its records stand for another's, perhaps.
  KernelRing(std::byte* address, std::size_t size, std::optional<Renumbering> as)
      : address_(address), size_(size), as_(as) {}
  ~KernelRing();
  KernelRing(const KernelRing&) = delete;
  KernelRing& operator=(const KernelRing&) = delete;
  // In a forked child, where the kernel maps no such thing.
  void forget() { address_ = nullptr; }

  // Sees what the kernel has written by now.
  void look();
  // The same, once more: what it has written since the last look() is copied where it was before a sample.
  void look_again();
  [[nodiscard]] bool has_records() const { return head_ != tail_; }
  // Copies what was before that time, and what does not say when it was, while there is room. True if there was any.
  bool copy_until(std::uint64_t time, OutputRing& to);
  // Copies what look() saw, whenever it was, while there is room. True if there was any.
  bool copy_rest(OutputRing& to);

 private:
  [[nodiscard]] perf_event_mmap_page& page() const { return *reinterpret_cast<perf_event_mmap_page*>(address_); }
  void copy_from(std::uint64_t from, void* to, std::size_t bytes) const;
  // The record at the tail; false where there is no whole one before `end`.
  bool read_record(std::uint64_t end);
  template <typename IsMeant>
  bool copy(std::uint64_t end, OutputRing& to, const IsMeant& is_meant);

  std::byte* address_;
  std::size_t size_;
  std::optional<Renumbering> as_;
  std::uint64_t head_ = 0;
  std::uint64_t rest_ = 0;  // the head as look() saw it
  std::uint64_t tail_ = 0;
  Bytes record_;  // that was read last
};

}  // namespace landtrace::perf
