// The control segment, from the owner's side: its memory, its heap, and how things get published and freed.
#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "base/mapping.hpp"
#include "base/offset_heap.hpp"
#include "plan/segments.hpp"
#include "segments/room_maker.hpp"

namespace landtrace::segments {

class ControlMemory {
 public:
  struct Shape {
    std::uint32_t raw_clock;
    std::uint32_t cpus;
    std::uint32_t claimed;
    std::uint64_t data_bytes;
    abi::Version abi = abi::Version::k6_12;
  };
  static Result<ControlMemory> create(const Shape& shape);

  ControlMemory(ControlMemory&&) = default;

  [[nodiscard]] plan::ControlSegment& segment() { return *reinterpret_cast<plan::ControlSegment*>(mapping_.data()); }
  [[nodiscard]] const plan::ControlSegment& segment() const {
    return *reinterpret_cast<const plan::ControlSegment*>(mapping_.data());
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

  // Makes room, if it can, where there is none.
  void set_room_maker(RoomMaker* maker) { room_maker_ = maker; }
  // Copies `bytes` into the heap; ENOSPC when the segment is full. An empty range is offset 0.
  Result<std::uint32_t> store(std::span<const std::byte> bytes);
  Result<std::uint32_t> allocate(std::uint64_t size, std::uint64_t alignment);
  void free(std::uint32_t offset) { heap_.free(offset); }
  [[nodiscard]] std::uint64_t bytes_in_use() const { return heap_.bytes_in_use(); }
  // plan::kCodeBytes.
  [[nodiscard]] std::byte* code_area(std::uint32_t user) { return mapping_.data() + plan::code_area(user); }
  [[nodiscard]] std::byte* at(std::uint32_t offset) { return mapping_.data() + offset; }

  // To be called by the thread that serves the domain and lives as long as it does: when that thread is gone, for
  // whatever reason, producers see it.
  void mark_owner_alive();

 private:
  ControlMemory(Fd fd, Mapping mapping);

  Fd fd_;
  Mapping mapping_;
  OffsetHeap heap_;
  RoomMaker* room_maker_ = nullptr;
};

// Makes `value` (an offset into the control segment, or 0) visible with all that it points at. Pairs with the acquire
// loads of that word: of a plan in plan/emit.hpp, of a file's table in plan/file_write.cc, of an event's slot in
// buffer/event_table.cc.
inline void publish(std::uint32_t& word, std::uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_RELEASE); }

}  // namespace landtrace::segments
