// Whether an event passes a filter. Async-signal-safe: no lock, no allocation, no system call, no recursion; the time
// is bounded by the program's ops, the length of its patterns and the size of the payload.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/entry.hpp"
#include "arch/ring_words.hpp"
#include "filter/program.hpp"

namespace landtrace::filter {

// What of an event is not in its payload.
struct Context {
  abi::EntryHeader header;
  std::uint32_t cpu = 0;       // for programs with kUsesCpu
  std::uint32_t process = 0;   // for programs with kUsesProcess, as FunctionRange has it
  const char* comm = nullptr;  // for programs with kUsesComm: kCommSize bytes, NULs behind the name
};
inline constexpr std::size_t kCommSize = 16;

// The payload is the segments one after the other. It has at least the event's min_size; bytes that a field or a
// dynamic location names and that are not there are NUL. A payload in one segment is the fast case.
bool passes(const Program& program, const Context& context, const arch::Segment* segments, std::size_t segment_count);

}  // namespace landtrace::filter
