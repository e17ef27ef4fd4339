// A program that is being run: its windows, its budget, and what it holds. On the stack of the thread that runs it.
#pragma once

#include "bpf/machine.hpp"
#include "bpf/maps/ring.hpp"
#include "bpf/program.hpp"
#include "bpf/rows.hpp"
#include "bpf/surroundings.hpp"

namespace landtrace::bpf {

// helpers.cc
const Helper* helper_table();

struct Execution : Machine {
  // `stack` has what.frames of kFrameSize bytes. No initialisers: nothing is stored that nobody asks for.
  Execution(const Program& what, std::byte* data_segment, Surroundings& where, std::byte* stack)
      : program(what), data(data_segment), around(where) {
    budget = kMaxRun;
    end = End::kNone;
    helpers = helper_table();
    frame_end = stack + kFrameSize;
    frame_address = window_address(kStackWindow, kFrameSize);
    const std::uint64_t stack_bytes = std::uint64_t{what.frames} * kFrameSize;
    windows[kStackWindow] = {stack, stack_bytes, stack_bytes};
    for (std::uint32_t i = 0; i < kMaxHeldRecords; ++i) windows[kFirstRecordWindow + i] = {};
    window_count = kFirstMapWindow + what.map_count;
    for (std::uint32_t i = 0; i < what.map_count; ++i) {
      const MapLayout& map = what.maps()[i];
      windows[kFirstMapWindow + i] = {data + map.place + map.window_at, map.window_bytes,
                                      map.can_write != 0 ? map.window_bytes : 0};
    }
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() { let_go(); }

  // `first` is the first byte that can be read of it: context_begin().
  void set_context(const std::byte* first, std::uint64_t size) {
    windows[kContextWindow] = {const_cast<std::byte*>(first), size, 0};
  }
  [[nodiscard]] std::uint64_t context() const {
    return window_address(kContextWindow) - context_begin(program.context);
  }

  // Where the bytes are; nullptr: they are not in one of the windows.
  [[nodiscard]] std::byte* readable(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t index = window_of(address);
    if (index >= window_count) return nullptr;
    const std::uint64_t offset = address & kWindowOffsetMask;
    const Window& window = windows[index];
    return offset + size <= window.size ? window.base + offset : nullptr;
  }
  [[nodiscard]] std::byte* writable(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t index = window_of(address);
    if (index >= window_count) return nullptr;
    const std::uint64_t offset = address & kWindowOffsetMask;
    const Window& window = windows[index];
    return offset + size <= window.writable ? window.base + offset : nullptr;
  }
  // The address of a value of the map's.
  [[nodiscard]] std::uint64_t address_in(std::uint32_t map, const std::byte* at) const {
    const std::uint32_t window = kFirstMapWindow + map;
    return window_address(window, static_cast<std::uint64_t>(at - windows[window].base));
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
  void let_go() {
    for (std::uint32_t i = 0; held != 0 && i < kMaxHeldRecords; ++i) {
      if ((held >> i & 1) != 0) held_rings[i].release(held_records[i], true);
    }
    held = 0;
    if (has_row && row_is_mine) Rows(data + program.rows, program.row_count).give_back(row_number);
    has_row = false;
  }

  const Program& program;
  std::byte* data;
  Surroundings& around;
  // Which record windows are in use, a bit each.
  std::uint32_t held = 0;
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
};

}  // namespace landtrace::bpf
