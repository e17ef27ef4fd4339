// ARRAY and PERCPU_ARRAY.
#pragma once

#include "bpf/map_layout.hpp"

namespace landtrace::bpf {

class Array {
 public:
  // `data` is the data segment.
  Array(std::byte* data, const MapLayout& layout) : base_(data + layout.place + layout.elements_at), layout_(layout) {}

  // The row's value; nullptr: there is none of that number.
  [[nodiscard]] std::byte* find(std::uint32_t index, std::uint32_t row) const {
    if (index >= layout_.max_entries) return nullptr;
    return base_ + layout_.row_at(row) * layout_.row_stride + std::uint64_t{index} * layout_.stride;
  }

 private:
  std::byte* base_;
  const MapLayout& layout_;
};

}  // namespace landtrace::bpf
