// An event probe among the triggers of the event that it is attached to: makes an event out of that one's fields.
//
//   its plan, in the control segment, immutable; offsets are from its start
//
//     0           16          56          96
//     +-----------+-----------+-----------+----     ----+----------------+----------+
//     | EventProbePlan | EventProbeArg 0| EventProbeArg 1| …           | steps (int64)  | texts    |
//     +-----------+-----------+-----------+----     ----+----------------+----------+
//
//   the payload that it makes, on the stack
//
//     0                                            values_size
//     +---------+---------+----     ----+----------+------------+------------+----
//     | value 0 | value 1 | …           |          | text of 0  | text of 3  | …
//     +---------+---------+----     ----+----------+------------+------------+----
//                                                    a text's value is a __data_loc that says where it is
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// The largest payload that an event probe makes: it is put together on the stack. Texts are cut to what there is room
// for.
inline constexpr std::uint32_t kMaxEventProbePayload = 4096;
// Of that, what the values and what stands before them may need.
inline constexpr std::uint32_t kMaxEventProbeValues = 3088;

enum class EventProbeSource : std::uint8_t {
  kNumber,       // `number`
  kField,        // `source_size` bytes of the payload at `at`
  kFieldText,    // the text that begins there
  kDataLocText,  // the text at the __data_loc that stands there
  kRelLocText,   // … at the __rel_loc
  kComm,         // the thread's name
  kText,         // the text at `at` of the plan, `number` bytes
  // Of probes (probe.hpp) alone:
  kRegister,   // the register `at`
  kStackWord,  // the word `number` of the stack, from its pointer
  kPlace,      // an address: that of the probe, and `number`
  kKept,       // of a return: the argument `number` of the call, as it was
  // Operands of instructions:
  kPartOfRegister,  // `source_size` bytes of the register `at`, behind its lowest `number` bits
  kLoad,            // `source_size` bytes at base + index * scale + `number`: operand_word() in `at`
  kElapsed,    // of a return: the ns since the call; an event that cannot say it does not happen
};
// base and index: registers, kRegisters for none; base kRip: the place.
constexpr std::uint32_t operand_word(std::uint32_t base, std::uint32_t index, std::uint32_t scale) {
  return base | index << 8 | scale << 16;
}
// What of the source, once the steps have been followed, becomes the value: it itself, what it points to, the text
// there, or its address as a text.
enum class EventProbeStore : std::uint8_t { kValue, kMemory, kText, kSymbolText };

struct EventProbeArg {
  EventProbeSource source;
  EventProbeStore store;
  std::uint8_t source_size;
  // Of the field, or the operand.
  std::uint8_t is_signed;
  // Of the value, or of one element; 4 for a text.
  std::uint8_t size;
  // Of a bit field; 0: it is none.
  std::uint8_t bits;
  std::uint8_t first_bit;
  // Elements; 0: it is no array.
  std::uint8_t count;
  std::uint32_t at;
  // Where the steps are. Each is an offset: what stands there is the address that the next one starts from.
  std::uint32_t steps;
  std::uint32_t step_count;
  // Where in the made payload the value is.
  std::uint32_t target;
  std::uint64_t number;
  std::int64_t store_offset;
};
LT_SHARED(EventProbeArg, 40, 8);
LT_SHARED_AT(EventProbeArg, source, 0);
LT_SHARED_AT(EventProbeArg, store, 1);
LT_SHARED_AT(EventProbeArg, source_size, 2);
LT_SHARED_AT(EventProbeArg, is_signed, 3);
LT_SHARED_AT(EventProbeArg, size, 4);
LT_SHARED_AT(EventProbeArg, bits, 5);
LT_SHARED_AT(EventProbeArg, first_bit, 6);
LT_SHARED_AT(EventProbeArg, count, 7);
LT_SHARED_AT(EventProbeArg, at, 8);
LT_SHARED_AT(EventProbeArg, steps, 12);
LT_SHARED_AT(EventProbeArg, step_count, 16);
LT_SHARED_AT(EventProbeArg, target, 20);
LT_SHARED_AT(EventProbeArg, number, 24);
LT_SHARED_AT(EventProbeArg, store_offset, 32);

struct alignas(8) EventProbePlan {
  // The slot of the event that it makes.
  std::uint32_t event;
  std::uint32_t arg_count;
  // With `header`.
  std::uint32_t values_size;
  // Bytes before the values, which a probe fills with where it is: 0, 8 or 16.
  std::uint32_t header;

  [[nodiscard]] const EventProbeArg* args() const { return reinterpret_cast<const EventProbeArg*>(this + 1); }
};
LT_SHARED(EventProbePlan, 16, 8);
LT_SHARED_AT(EventProbePlan, event, 0);
LT_SHARED_AT(EventProbePlan, arg_count, 4);
LT_SHARED_AT(EventProbePlan, values_size, 8);
LT_SHARED_AT(EventProbePlan, header, 12);

// Makes the event, if somebody listens to it. Memory that an argument names is the producing program's own. It is read
// by a system call, so that what is not there does no harm; on behalf of a program that comes through the mounted file
// system none is read. The caller is inside a Section. Async-signal-safe; takes some 5 KiB of stack.
void run_event_probe(const View& view, const Thread& thread, const EventProbePlan& probe,
                     const arch::WriteRequest& request);

}  // namespace landtrace::plan
