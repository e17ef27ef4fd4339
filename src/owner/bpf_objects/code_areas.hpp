// Code of programs, behind the control segment: an area a user, which that user's producers map to be run.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "base/offset_heap.hpp"
#include "domain/domain.hpp"

namespace landtrace::bpf_objects {

class CodeAreas {
 public:
  explicit CodeAreas(domain::ControlMemory& control) : control_(control), heaps_(std::make_shared<Heaps>()) {}

  // Where the copy begins in the area, never 0. ENOMEM.
  Result<std::uint32_t> store(std::uint32_t user, std::span<const std::byte> code) {
    // A line of the cache: where a function begins is where others jump to.
    constexpr std::uint64_t kLine = 64;
    OffsetHeap& heap = heaps_->try_emplace(user, kLine, plan::kCodeBytes).first->second;
    LT_TRY(const std::uint64_t at, heap.allocate(code.size(), kLine));
    std::memcpy(control_.code_area(user) + at, code.data(), code.size());
    return static_cast<std::uint32_t>(at);
  }
  // Frees what is there; may be called when the areas themselves are gone.
  [[nodiscard]] auto freeing(std::uint32_t user, std::uint32_t at) const {
    return [heaps = heaps_, user, at] {
      if (const auto found = heaps->find(user); found != heaps->end()) found->second.free(at);
    };
  }

 private:
  using Heaps = std::map<std::uint32_t, OffsetHeap>;
  domain::ControlMemory& control_;
  std::shared_ptr<Heaps> heaps_;
};

}  // namespace landtrace::bpf_objects
