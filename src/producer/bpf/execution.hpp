// A program that is being run: its windows, its budget, and what it holds. On the stack of the thread that runs it.
#pragma once

#include "bpf/machine.hpp"
#include "bpf/maps/ring.hpp"
#include "bpf/program.hpp"
#include "bpf/rows.hpp"
#include "bpf/surroundings.hpp"

namespace landtrace::bpf {

struct Execution : Machine {
  // Lies behind what.frames of kFrameSize bytes. No initialisers: nothing is stored that nobody asks for.
  Execution(const Program& what, std::byte* data_segment, Surroundings& where, const std::byte* first,
            std::uint64_t size)
      : program(what), around(where) {
    budget = kMaxRun;
    end = End::kNone;
    held = 0;
    helpers = kHelpers.at;
    data = data_segment;
    context = {const_cast<std::byte*>(first), size};
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() {
    if (__builtin_expect(held != 0 || has_row, 0)) let_go();
  }

  // What r1 is at first.
  [[nodiscard]] std::uint64_t context_address() const {
    return window_address(kContextWindow) - context_begin(program.context);
  }

  // Where the bytes are; nullptr: they are not in one of the windows.
  [[nodiscard]] std::byte* readable(std::uint64_t address, std::uint64_t size) const {
    return place_in(window(window_of(address)), address, size);
  }
  [[nodiscard]] std::byte* writable(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t index = window_of(address);
    Window in = window(index);
    if (!can_write(index)) in.size = 0;
    return place_in(in, address, size);
  }
  // The address of a value of the map's.
  [[nodiscard]] std::uint64_t address_in(std::uint32_t map, const std::byte* at) const {
    const std::uint32_t number = kFirstMapWindow + map;
    return window_address(number, static_cast<std::uint64_t>(at - window(number).base));
  }

  // The map that a helper was given; nullptr: none.
  [[nodiscard]] const MapLayout* map_of(std::uint64_t handle, std::uint32_t& index) const {
    const std::uint64_t number = handle - kMapHandle;
    if (number >= program.map_count) return nullptr;
    index = static_cast<std::uint32_t>(number);
    return program.maps() + number;
  }

  // The row of per-CPU values that this run has.
  std::uint32_t row() {
    if (!has_row) {
      row_number = Rows(data + program.rows, program.row_count).claim(around.cpu(), around.tid(), row_is_mine);
      has_row = true;
    }
    return row_number;
  }

  void count(std::uint64_t Figures::*which) const {
    auto* const figures = reinterpret_cast<Figures*>(data + program.figures);
    __atomic_fetch_add(&(figures->*which), 1, __ATOMIC_RELAXED);
  }

  std::uint64_t stop(End why) {
    end = why;
    return 0;
  }

  // Records that are held go, and the row.
  [[gnu::noinline]] void let_go() {
    for (std::uint32_t i = 0; held != 0 && i < kMaxHeldRecords; ++i) {
      if ((held >> i & 1) != 0) held_rings[i].release(held_records[i], true);
    }
    held = 0;
    if (has_row && row_is_mine) Rows(data + program.rows, program.row_count).give_back(row_number);
    has_row = false;
  }

  const Program& program;
  Surroundings& around;
  bool has_row = false;
  bool row_is_mine = false;
  std::uint32_t row_number = 0;
  struct HeldRing {
    std::byte* data;
    const MapLayout* map;
    void release(const RecordRing::Record& record, bool discard) const {
      RecordRing(data, *map).release(record, discard);
    }
  };
  HeldRing held_rings[kMaxHeldRecords];
  RecordRing::Record held_records[kMaxHeldRecords];

 private:
  // Of no bytes: it is none.
  [[nodiscard]] Window window(std::uint64_t index) const {
    if (index == kContextWindow) return context;
    if (index == kStackWindow) {
      const std::uint64_t bytes = std::uint64_t{program.frames} * kFrameSize;
      return {reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(this) - bytes), bytes};
    }
    if (index < kFirstMapWindow) {
      const std::uint64_t number = index - kFirstRecordWindow;
      return (held >> number & 1) != 0 ? records[number] : Window{nullptr, 0};
    }
    const std::uint64_t number = index - kFirstMapWindow;
    if (number >= program.map_count) return {nullptr, 0};
    const MapLayout& map = program.maps()[number];
    return {data + map.place + map.window_at, map.window_bytes};
  }
  // Of a window that there is.
  [[nodiscard]] bool can_write(std::uint64_t index) const {
    if (index < kFirstMapWindow) return index != kContextWindow;
    const std::uint64_t number = index - kFirstMapWindow;
    return number < program.map_count && program.maps()[number].can_write != 0;
  }
  static std::byte* place_in(const Window& window, std::uint64_t address, std::uint64_t size) {
    const std::uint64_t offset = address & kWindowOffsetMask;
    return size <= window.size && offset <= window.size - size ? window.base + offset : nullptr;
  }
};
// An execution behind its stack.
template <std::uint32_t Frames>
struct Running {
  template <typename... From>
  explicit Running(From&&... from) : run(from...) {}

  // Whatever lies there: the program has not written to it.
  alignas(16) std::byte stack[Frames * kFrameSize];
  Execution run;
};
static_assert(kFrameSize % alignof(Execution) == 0, "the stack ends where the execution begins");

}  // namespace landtrace::bpf
