// The registers of a frame, by their DWARF numbers on x86-64 (System V ABI, figure 3.36).
#pragma once

#include <cstdint>

namespace landtrace::unwind {

inline constexpr unsigned kRbx = 3;
inline constexpr unsigned kRbp = 6;
inline constexpr unsigned kRsp = 7;
inline constexpr unsigned kR12 = 12;
inline constexpr unsigned kRip = 16;  // the column of the return address
inline constexpr unsigned kRegisters = 17;

// Whether callers are found by tables; else by frame pointers alone, under the numbers above all the same.
#if defined(__x86_64__)
inline constexpr bool kByTables = true;
#else
inline constexpr bool kByTables = false;
#endif

struct Registers {
  std::uint64_t value[kRegisters] = {};
  std::uint32_t known = 0;  // a bit each

  [[nodiscard]] bool has(std::uint64_t number) const { return number < kRegisters && ((known >> number) & 1) != 0; }
  void set(unsigned number, std::uint64_t to) {
    value[number] = to;
    known |= 1u << number;
  }
  [[nodiscard]] std::uint64_t pc() const { return value[kRip]; }
  [[nodiscard]] std::uint64_t sp() const { return value[kRsp]; }
};

// Reads the eight bytes at an address of the program that is unwound; false where they cannot be read. Never faults.
struct WordReader {
  bool (*function)(void* self, std::uint64_t address, std::uint64_t& word);
  void* self;

  bool operator()(std::uint64_t address, std::uint64_t& word) const { return function(self, address, word); }
};

}  // namespace landtrace::unwind
