// What a program can touch. Its pointers are no addresses of the process: they say which window, and where in it.
//
//   63             47          40 39                                  0
//   +---------------+-----------+-------------------------------------+
//   | 1111…1        | window    | offset                              |     they look like addresses of a kernel
//   +---------------+-----------+-------------------------------------+
//
//     window  0                the stack: a frame of 512 bytes for each subprogram that is being run
//             1                the context (bpf/context.hpp). Of an event it is the payload, which begins at byte 8, so
//                              that a context is this window's address less 8: what lies before is in no window
//             2 … 5            records of ring buffers that the program holds
//             6 …              its maps' values
//
// So each access is checked where it happens, whatever verifier has looked at the program: a pointer that has left its
// window leads nowhere. And nobody learns from a program where anything lies in another process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bpf/instruction.hpp"

namespace landtrace::bpf {

inline constexpr unsigned kWindowShift = 40;
inline constexpr std::uint64_t kWindowOffsetMask = (1ull << kWindowShift) - 1;
// What a window's address is, shifted, for window 0.
inline constexpr std::uint64_t kWindowTag = 0xffff80;

inline constexpr std::uint32_t kStackWindow = 0;
inline constexpr std::uint32_t kContextWindow = 1;
inline constexpr std::uint32_t kFirstRecordWindow = 2;
inline constexpr std::uint32_t kMaxHeldRecords = 4;
inline constexpr std::uint32_t kFirstMapWindow = kFirstRecordWindow + kMaxHeldRecords;
inline constexpr std::uint32_t kMaxWindows = kFirstMapWindow + kMaxMaps;
static_assert(kWindowTag + kMaxWindows <= 1ull << (64 - kWindowShift));

constexpr std::uint64_t window_address(std::uint32_t window, std::uint64_t offset = 0) {
  return ((kWindowTag + window) << kWindowShift) + offset;
}
// Not below kMaxWindows: it is no window's.
constexpr std::uint64_t window_of(std::uint64_t address) { return (address >> kWindowShift) - kWindowTag; }

struct Window {
  std::byte* base;
  std::uint64_t size;
};
static_assert(sizeof(Window) == 16);

// A map itself, as programs hand it to helpers: a number that is no address either.
inline constexpr std::uint64_t kMapHandle = 0xfffe'4d61'7000'0000;
constexpr std::uint64_t map_handle(std::uint32_t index) { return kMapHandle + index; }

}  // namespace landtrace::bpf
