// Histograms as they lie in shared memory: the table, which producers fill, and the plan, which says with what.
//
//   data segment (one a user; at the same offset in each)       written by that user's producers, untrusted
//     TableHeader              what was dropped, how many elements are taken
//     u64 slots[2 * elements]  0, or the hash's upper half << 32 | element + 1; linear probing, nothing is ever removed
//     elements                 `stride` bytes each, a multiple of 64
//
//   an element                 (TableLayout says where; all parts are multiples of 8 bytes)
//     key                      `key_size` bytes, written before the element is in a slot, then never
//     u64 hitcount
//     u64 sums[value_count]
//     u8  sets[variable_count] 1: the variable is set; and padding
//     u64 numbers[]            variables that are numbers, words of handlers, saved numbers, in the order of the plan
//     char comm[16]            if the layout has it: who made the element
//     char texts[][256], u64 stacks[][16]   variables and saved fields that are such
//
//   control segment            written by the owner once, then published; trusted
//     HistPlan                 then, by offset from its start:
//     Key[], Operand values[], Variable[], Reference[], Action[], Param[], Op[]
//
// A fresh table is all zeros. Named histograms of several events are several plans with one table and equal layouts.
// Geometry is read from the plan alone, so that nothing in the table can lead out of it but an element's number, and that
// is checked wherever it is read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::hist {

inline constexpr std::uint32_t kMaxKeys = 3;
inline constexpr std::uint32_t kMaxKeySize = 384;  // as in the kernel: a text and a stack
inline constexpr std::uint32_t kMaxValues = 64;
inline constexpr std::uint32_t kMaxVariables = 64;
inline constexpr std::uint32_t kMaxReferences = 32;
inline constexpr std::uint32_t kMaxActions = 8;
inline constexpr std::uint32_t kMaxParams = 64;  // of one action
inline constexpr std::uint32_t kMaxStack = 16;   // of numbers, of one expression
inline constexpr std::uint32_t kTextSize = 256;  // of a text in an element, with its NUL
inline constexpr std::uint32_t kStackFrames = 16;
inline constexpr std::uint32_t kStackSize = kStackFrames * 8;
inline constexpr std::uint32_t kCommSize = 16;
inline constexpr std::uint32_t kMinElements = 128;
inline constexpr std::uint32_t kMaxElements = 131072 * 8;
// The largest payload of a synthetic event that a histogram makes.
inline constexpr std::uint32_t kMaxSyntheticPayload = 4096;
// Before a payload, in the positions of dynamic fields.
inline constexpr std::uint32_t kEntryHeader = 8;

// -- the table ----------------------------------------------------------------------------------------------------
struct alignas(64) TableHeader {
  std::uint64_t taken;    // elements that were handed out; may be more than there are
  std::uint64_t spare;    // elements given back: tag << 32 | element + 1 of the first; the next is in its hitcount
  std::uint64_t dropped;  // events that found the table full
  std::uint64_t lost;     // synthetic events that were too large, or too deeply nested
  // Of each action that takes snapshots: tag << 32 | element + 1 of whose value the last one was taken for.
  std::uint64_t snapshots[kMaxActions];
  std::uint64_t reserved[4];
};
static_assert(sizeof(TableHeader) == 128);

struct TableLayout {
  std::uint64_t bytes;        // of the table
  std::uint64_t elements_at;  // from its start; slots begin behind the header
  std::uint32_t elements;     // a power of two
  std::uint32_t stride;
  std::uint32_t key_size;
  std::uint32_t value_count;
  std::uint32_t variable_count;
  std::uint32_t sets_at;  // from an element's start, as the following; hitcount is at key_size, sums follow it
  std::uint32_t comm_at;  // 0: there is none
  std::uint32_t reserved;

  [[nodiscard]] constexpr std::uint32_t hitcount_at() const { return key_size; }
  [[nodiscard]] constexpr std::uint32_t sums_at() const { return key_size + 8; }
  [[nodiscard]] constexpr std::uint32_t slots() const { return 2 * elements; }
  bool operator==(const TableLayout&) const = default;
};
static_assert(sizeof(TableLayout) == 48);

// -- where values come from -----------------------------------------------------------------------------------------
enum class OpCode : std::uint8_t {
  // Put a number on the stack.
  kField,      // `size` bytes at `offset` of the payload, with their sign if `is_signed`
  kHeader,     // the same of the entry's common header (8 bytes: type, flags, preempt count, pid)
  kConstant,   // `number`
  kTimestamp,  // when the event happened, by `clock`, divided by `number` (1, or 1000 for usecs)
  kCpu,
  kReference,  // the variable of reference `offset`, which is a number
  kVariable,   // the own variable `offset`, a number that was computed before
  // Replace the one or two topmost.
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,  // unsigned; by 0: ~0
  kLog2,    // of the next power of two that is not smaller; where there is none, and of 0: 0
  kBucket,  // rounded down to a multiple of `number`
};

// CLOCK_… of clock_gettime(), or this: the raw clock of the domain, unconverted.
inline constexpr std::uint8_t kRawClock = 0xff;

struct Op {
  OpCode code;
  std::uint8_t size;
  bool is_signed;
  std::uint8_t clock;
  std::uint32_t offset;
  std::uint64_t number;
};
static_assert(sizeof(Op) == 16);

enum class ValueType : std::uint8_t { kNumber, kText, kStack };

enum class Origin : std::uint8_t {
  kOps,        // number: `size` ops, beginning with number `index`
  kField,      // text: `size` bytes at `offset` of the payload
  kDataLoc,    // text, stack: where the u32 at `offset` says (its upper half: how long)
  kRelLoc,     // the same, counted from the end of that u32
  kComm,       // text: the thread's name
  kThread,     // stack: the thread's, of user space
  kReference,  // text, stack: the variable of reference `index`
  kVariable,   // text, stack: the own variable `index`
};

struct Operand {
  ValueType type;
  Origin origin;
  std::uint16_t reserved;
  std::uint32_t index;
  std::uint32_t offset;
  std::uint32_t size;
};
static_assert(sizeof(Operand) == 16);

// -- the plan -----------------------------------------------------------------------------------------------------
// Numbers are 8 bytes; texts at most `size` - 1 and NULs, stacks 16 words, 0 behind the last frame.
struct Key {
  Operand operand;
  std::uint32_t at;  // in the key
  std::uint32_t size;
};
static_assert(sizeof(Key) == 24);

// Where in an element a variable lies, and where the byte that says that it is set.
struct Place {
  ValueType type;
  std::uint8_t reserved[3];
  std::uint32_t at;
  std::uint32_t set_at;
  bool operator==(const Place&) const = default;
};
static_assert(sizeof(Place) == 12);

struct Variable {
  Operand operand;
  Place place;
  std::uint32_t reserved;
};
static_assert(sizeof(Variable) == 32);

// A variable of another histogram, found by this event's key.
struct Reference {
  std::uint64_t table;  // offset of its table in a data segment
  TableLayout layout;
  Place place;
  std::uint32_t once;  // 1: who reads it unsets it
};
static_assert(sizeof(Reference) == 72);

enum class Handler : std::uint8_t { kOnMatch, kOnMax, kOnChange };
enum class Deed : std::uint8_t { kTrace, kSave, kSnapshot };

struct Action {
  Handler handler;
  Deed deed;
  std::uint16_t param_count;
  std::uint32_t params;  // number of the first
  Operand tracked;       // of onmax and onchange: a number
  std::uint32_t
      tracked_at;  // word in the element: the value that it had when the handler last did something; at first 0
  std::uint32_t
      taken_at;  // kSnapshot: word in the element: the value that the last snapshot for this element was taken for
  std::uint32_t saved_at;    // kSave: byte in the element: 1 when something was saved
  std::uint32_t target;      // kTrace: the event's slot; kSnapshot: the cell that counts the instance's snapshots
  std::uint32_t fixed_size;  // kTrace: payload before the dynamic fields' bytes
  std::uint32_t max_size;    // … and with the longest of these, at most kMaxSyntheticPayload
};
static_assert(sizeof(Action) == 48);

// Of kTrace where a field is in the payload, of kSave where it is in the element.
struct Param {
  Operand operand;
  std::uint32_t at;
  std::uint32_t size;  // number: 1, 2, 4, 8; static text: its size. Saved texts have kTextSize.
  bool is_dynamic;     // text and stack of kTrace: a u32 at `at` says where the bytes are (kDataLoc)
  std::uint8_t reserved[7];
};
static_assert(sizeof(Param) == 32);

struct alignas(8) HistPlan {
  std::uint64_t table;  // offset in a data segment
  TableLayout layout;
  std::uint32_t bytes;       // of the plan with all that follows
  std::uint32_t pause_cell;  // a switch: nothing is done while it is thrown; 0: none
  std::uint32_t min_size;    // payload bytes up to the last field that is looked at
  std::uint32_t key_count;
  std::uint32_t value_count;
  std::uint32_t variable_count;
  std::uint32_t reference_count;
  std::uint32_t action_count;
  // Offsets from the start of the plan.
  std::uint32_t keys;
  std::uint32_t values;
  std::uint32_t variables;
  std::uint32_t references;
  std::uint32_t actions;
  std::uint32_t params;
  std::uint32_t ops;
  std::uint32_t event_pause_cell;  // that of all histograms of the event: of the two the newest throw counts

  template <typename T>
  [[nodiscard]] const T* at(std::uint32_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(this) + offset);
  }
};
static_assert(sizeof(HistPlan) == 56 + 64);

}  // namespace landtrace::hist
