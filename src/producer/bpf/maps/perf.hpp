// PERF_EVENT_ARRAY: for each CPU a perf buffer, as perf_event_open()'s mapping has it, filled by who has the CPU's row.
//
//     a slot     header page (<linux/perf_event.h>'s perf_event_mmap_page)    data, kPerfSlotBytes at most
//
// The size is what whoever reads has mapped, and stands in the header: hostile, as everything here. 0: nobody reads.
#pragma once

#include "bpf/map_layout.hpp"

namespace landtrace::bpf {

inline constexpr std::uint32_t kPerfDataHead = 1024;
inline constexpr std::uint32_t kPerfDataTail = 1032;
inline constexpr std::uint32_t kPerfDataOffset = 1040;
inline constexpr std::uint32_t kPerfDataSize = 1048;

class PerfSlots {
 public:
  // `data` is the data segment.
  PerfSlots(std::byte* data, const MapLayout& layout)
      : base_(data + layout.place + layout.elements_at), layout_(layout) {}

  // A sample with these bytes as its raw data. 0, or -ENOENT (nobody reads), -ENOSPC (no room; counted), -E2BIG.
  int output(std::uint32_t slot, const std::byte* data, std::uint32_t size) const;

  // The word of the header that lies there.
  [[nodiscard]] std::uint64_t* word(std::uint32_t slot, std::uint32_t at) const {
    return reinterpret_cast<std::uint64_t*>(base_ + std::uint64_t{slot} * layout_.stride + at);
  }
  // Samples that found no room, and what of that readers were told.
  [[nodiscard]] std::uint64_t* lost(std::uint32_t slot) const { return word(slot, kMapPage - 16); }
  [[nodiscard]] std::uint64_t* told(std::uint32_t slot) const { return word(slot, kMapPage - 8); }

 private:
  class Writer;

  std::byte* base_;
  const MapLayout& layout_;
};

}  // namespace landtrace::bpf
