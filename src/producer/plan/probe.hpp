// An event probe among the triggers of the event that it is attached to: makes an event out of that one's fields.
//
//   ProbePlan
//   ProbeArg[arg_count]
//   steps of arguments (std::int64_t), texts; by offset from the plan's start
//
// Immutable, in the control segment. The values stand one behind the other, texts behind all values (event/probe_fields.hpp).
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// The largest payload that an event probe makes: it is put together on the stack. Texts are cut to what there is room for.
inline constexpr std::uint32_t kMaxProbePayload = 4096;
// Of that, what the values may need.
inline constexpr std::uint32_t kMaxProbeValues = 2048;

enum class ProbeSource : std::uint8_t {
  kNumber,       // `number`
  kField,        // `source_size` bytes of the payload at `at`
  kFieldText,    // the text that begins there
  kDataLocText,  // the text at the __data_loc that stands there
  kRelLocText,   // … at the __rel_loc
  kComm,         // the thread's name
  kText,         // the text at `at` of the plan, `number` bytes
};
enum class ProbeStore : std::uint8_t { kValue, kMemory, kText, kSymbolText };

struct ProbeArg {
  ProbeSource source;
  ProbeStore store;
  std::uint8_t source_size;
  std::uint8_t is_signed;  // the field
  std::uint8_t size;       // of the value, or of one element; 4 for a text
  std::uint8_t bits;       // of a bit field; 0: it is none
  std::uint8_t first_bit;
  std::uint8_t count;  // elements; 0: it is no array
  std::uint32_t at;
  std::uint32_t steps;  // where the std::int64_t are
  std::uint32_t step_count;
  std::uint32_t target;  // where in the made payload the value is
  std::uint64_t number;
  std::int64_t store_offset;
};
static_assert(sizeof(ProbeArg) == 40);

struct alignas(8) ProbePlan {
  std::uint32_t event;  // the slot of the event that it makes
  std::uint32_t arg_count;
  std::uint32_t values_size;
  std::uint32_t reserved;

  [[nodiscard]] const ProbeArg* args() const { return reinterpret_cast<const ProbeArg*>(this + 1); }
};
static_assert(sizeof(ProbePlan) == 16);

// Makes the event, if somebody listens to it. Memory that an argument names is the producing program's own, and is read by a
// system call, so that what is not there does no harm; on behalf of a program that comes through the mounted file system
// none is read. The caller is inside a Section. Async-signal-safe; takes some 5 KiB of stack.
void run_probe(const View& view, const Thread& thread, const ProbePlan& probe, const arch::WriteRequest& request);

}  // namespace landtrace::plan
