// Histograms as they lie in shared memory: the table, which producers fill, and the plan, which says with what.
//
// A table, at the same offset in each user's data segment. Written by that user's producers, not trusted.
//
//     0             128                         elements_at
//     +-------------+---------------------------+-----------+-----------+-----------+----
//     | TableHeader | u64 slots[2 * elements]   | element 0 | element 1 | element 2 | …    `stride` bytes each,
//     +-------------+--------|------------------+-----------+-----------+-----------+----  a multiple of 64
//                            \________ element + 1 ________^
//
//   a slot          63                  32 31                   0
//                   +---------------------+---------------------+    0: empty. Linear probing; what is in a slot never
//                   | hash, upper half    | element + 1         |    changes
//                   +---------------------+---------------------+
//
//   an element      0
//     key           +--------------------------------------------+   written before the element is in a slot, then
//                   | key_size bytes                             |   never
//     key_size      +--------------------------------------------+
//                   | u64 hitcount                               |   not 0: the element is in the table
//                   +--------------------------------------------+
//                   | u64 sums[value_count]                      |
//     sets_at       +--------------------------------------------+
//                   | u8 sets[variable_count], padding           |   1: the variable is set
//                   +--------------------------------------------+
//                   | u64 numbers[]                              |   variables that are numbers, words of handlers,
//     comm_at       +--------------------------------------------+   saved numbers, in the order of the plan
//                   | char comm[16], if the layout has it        |   who made the element
//                   +--------------------------------------------+
//                   | char texts[][256], u64 stacks[][16]        |   variables and saved fields that are such
//     stride        +--------------------------------------------+
//
//   All parts are multiples of 8 bytes; TableLayout and the plan's Places say where they are. A fresh table is zeros.
//
// A plan, in the control segment. Written by the owner once, then published; trusted.
//
//     0          128
//     +----------+---------+---------+------------+-------------+----------+---------+-------+
//     | HistPlan | Key[]   | Operand | Variable[] | Reference[] | Action[] | Param[] | Op[]  |
//     |          |         | values[]|            |             |          |         |       |
//     +----------+---------+---------+------------+-------------+----------+---------+-------+
//
//   HistPlan says where each of the lists begins, by offset from its own start.
//
// Named histograms of several events are several plans with one table and equal layouts. Geometry is read from the plan
// alone, so that nothing in a table can lead out of it but an element's number, and that is checked wherever it is
// read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::hist {

inline constexpr std::uint32_t kMaxKeys = 3;
// As in the kernel: a text and a stack.
inline constexpr std::uint32_t kMaxKeySize = 384;
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

// These types have flags that are bool.
static_assert(sizeof(bool) == 1);

// -- the table ----------------------------------------------------------------------------------------------------
//   0       8       16        24     32                        96         128
//   +-------+-------+---------+------+-------------------------+----------+
//   | taken | spare | dropped | lost | snapshots[kMaxActions]  | reserved |
//   +-------+-------+---------+------+-------------------------+----------+
//
//   spare, snapshots[i]   63          32 31           0     the tag grows with each change, so that a compare-and-swap
//                         +-------------+-------------+     fails where another element came and this one came back
//                         | tag         | element + 1 |
//                         +-------------+-------------+
struct alignas(64) TableHeader {
  // Elements that were handed out for the first time; may be more than there are.
  std::uint64_t taken;
  // The first element of those given back; the next one's number + 1 is the first word of its key. See table.hpp.
  std::uint64_t spare;
  // Events that found the table full.
  std::uint64_t dropped;
  // Synthetic events that were not made, being too large or nested too deep.
  std::uint64_t lost;
  // Of each action that takes snapshots: the element for whose value the last one was taken.
  std::uint64_t snapshots[kMaxActions];
  std::uint64_t reserved[4];
};
LT_SHARED(TableHeader, 128, 64);
LT_SHARED_AT(TableHeader, taken, 0);
LT_SHARED_AT(TableHeader, spare, 8);
LT_SHARED_AT(TableHeader, dropped, 16);
LT_SHARED_AT(TableHeader, lost, 24);
LT_SHARED_AT(TableHeader, snapshots, 32);

struct TableLayout {
  // Of the table.
  std::uint64_t bytes;
  // From the table's start; slots begin behind the header.
  std::uint64_t elements_at;
  // A power of two.
  std::uint32_t elements;
  std::uint32_t stride;
  std::uint32_t key_size;
  std::uint32_t value_count;
  std::uint32_t variable_count;
  // From an element's start.
  std::uint32_t sets_at;
  // Likewise; 0: there is none.
  std::uint32_t comm_at;
  std::uint32_t reserved;

  [[nodiscard]] constexpr std::uint32_t hitcount_at() const { return key_size; }
  [[nodiscard]] constexpr std::uint32_t sums_at() const { return key_size + 8; }
  [[nodiscard]] constexpr std::uint32_t slots() const { return 2 * elements; }
  bool operator==(const TableLayout&) const = default;
};
LT_SHARED(TableLayout, 48, 8);
LT_SHARED_AT(TableLayout, bytes, 0);
LT_SHARED_AT(TableLayout, elements_at, 8);
LT_SHARED_AT(TableLayout, elements, 16);
LT_SHARED_AT(TableLayout, stride, 20);
LT_SHARED_AT(TableLayout, key_size, 24);
LT_SHARED_AT(TableLayout, value_count, 28);
LT_SHARED_AT(TableLayout, variable_count, 32);
LT_SHARED_AT(TableLayout, sets_at, 36);
LT_SHARED_AT(TableLayout, comm_at, 40);

// -- where values come from ---------------------------------------------------------------------------------------
// A number is an expression in postfix order, which works on a stack of numbers.
enum class OpCode : std::uint8_t {
  // Put a number on the stack.
  kField,      // `size` bytes at `offset` of the payload, with their sign if `is_signed`
  kHeader,     // the same of the entry's common header (8 bytes: type, flags, preempt count, pid)
  kConstant,   // `number`
  kTimestamp,  // when the event happened, by `clock`, divided by `number` (1, or 1000 for usecs)
  kCpu,
  kReference,  // the variable of reference `offset`, which is a number
  kVariable,   // the own variable `offset`, a number that was computed before
  // Replace the topmost number, or the two topmost ones.
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,  // unsigned; by 0: ~0; `number`: see quotient()
  // Of the next power of two that is not smaller; 0 where there is none, and of 0. With a `number` above 0: rounded
  // down to that many + 1 leading bits, so 2^number steps a power of two; 0 from 2^63 on. No op of its own: one more
  // would make all others slower.
  kLog2,
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
LT_SHARED(Op, 16, 8);
LT_SHARED_AT(Op, code, 0);
LT_SHARED_AT(Op, size, 1);
LT_SHARED_AT(Op, is_signed, 2);
LT_SHARED_AT(Op, clock, 3);
LT_SHARED_AT(Op, offset, 4);
LT_SHARED_AT(Op, number, 8);

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
LT_SHARED(Operand, 16, 4);
LT_SHARED_AT(Operand, type, 0);
LT_SHARED_AT(Operand, origin, 1);
LT_SHARED_AT(Operand, index, 4);
LT_SHARED_AT(Operand, offset, 8);
LT_SHARED_AT(Operand, size, 12);

// -- the plan -----------------------------------------------------------------------------------------------------
// Numbers are 8 bytes; texts at most `size` - 1 and NULs, stacks 16 words, 0 behind the last frame.
struct Key {
  Operand operand;
  // In the key.
  std::uint32_t at;
  std::uint32_t size;
};
LT_SHARED(Key, 24, 4);
LT_SHARED_AT(Key, operand, 0);
LT_SHARED_AT(Key, at, 16);
LT_SHARED_AT(Key, size, 20);

// Where in an element a variable lies, and where the byte that says that it is set.
struct Place {
  ValueType type;
  std::uint8_t reserved[3];
  std::uint32_t at;
  std::uint32_t set_at;
  bool operator==(const Place&) const = default;
};
LT_SHARED(Place, 12, 4);
LT_SHARED_AT(Place, type, 0);
LT_SHARED_AT(Place, at, 4);
LT_SHARED_AT(Place, set_at, 8);

struct Variable {
  Operand operand;
  Place place;
  std::uint32_t reserved;
};
LT_SHARED(Variable, 32, 4);
LT_SHARED_AT(Variable, operand, 0);
LT_SHARED_AT(Variable, place, 16);

// A variable of another histogram, found by this event's key.
struct Reference {
  // Offset of its table in a data segment.
  std::uint64_t table;
  TableLayout layout;
  Place place;
  // 1: whoever reads it unsets it.
  std::uint32_t once;
};
LT_SHARED(Reference, 72, 8);
LT_SHARED_AT(Reference, table, 0);
LT_SHARED_AT(Reference, layout, 8);
LT_SHARED_AT(Reference, place, 56);
LT_SHARED_AT(Reference, once, 68);

enum class Handler : std::uint8_t { kOnMatch, kOnMax, kOnChange };
enum class Deed : std::uint8_t { kTrace, kSave, kSnapshot };

struct Action {
  Handler handler;
  Deed deed;
  std::uint16_t param_count;
  // Number of the first.
  std::uint32_t params;
  // kOnMax and kOnChange: the number that is looked at.
  Operand tracked;
  // Word in the element: that number when the handler last did something; 0 at first.
  std::uint32_t tracked_at;
  // kSnapshot: word in the element: that number when the last snapshot for this element was taken.
  std::uint32_t taken_at;
  // kSave: byte in the element: 1 when something was saved.
  std::uint32_t saved_at;
  // kTrace: the event's slot; kSnapshot: the cell that counts the instance's snapshots.
  std::uint32_t target;
  // kTrace: payload before the dynamic fields' bytes, and with the longest of these, at most kMaxSyntheticPayload.
  std::uint32_t fixed_size;
  std::uint32_t max_size;
};
LT_SHARED(Action, 48, 4);
LT_SHARED_AT(Action, handler, 0);
LT_SHARED_AT(Action, deed, 1);
LT_SHARED_AT(Action, param_count, 2);
LT_SHARED_AT(Action, params, 4);
LT_SHARED_AT(Action, tracked, 8);
LT_SHARED_AT(Action, tracked_at, 24);
LT_SHARED_AT(Action, taken_at, 28);
LT_SHARED_AT(Action, saved_at, 32);
LT_SHARED_AT(Action, target, 36);
LT_SHARED_AT(Action, fixed_size, 40);
LT_SHARED_AT(Action, max_size, 44);

// Of kTrace where a field is in the payload, of kSave where it is in the element.
struct Param {
  Operand operand;
  std::uint32_t at;
  // Number: 1, 2, 4, 8; static text: its size. Saved texts have kTextSize.
  std::uint32_t size;
  // Text and stack of kTrace: a u32 at `at` says where the bytes are (kDataLoc).
  bool is_dynamic;
  std::uint8_t reserved[7];
};
LT_SHARED(Param, 32, 4);
LT_SHARED_AT(Param, operand, 0);
LT_SHARED_AT(Param, at, 16);
LT_SHARED_AT(Param, size, 20);
LT_SHARED_AT(Param, is_dynamic, 24);

struct alignas(8) HistPlan {
  // Offset in a data segment.
  std::uint64_t table;
  TableLayout layout;
  // Of the plan with all that follows.
  std::uint32_t bytes;
  // A switch: nothing is done while it is thrown; 0: none.
  std::uint32_t pause_cell;
  // Payload bytes up to the last field that is looked at.
  std::uint32_t min_size;
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
  // The switch of all histograms of the event. Of this one's and that one the newest throw counts.
  std::uint32_t event_pause_cell;
  // One key, which is a field; values that are fields; no variables, references, actions and names: count_plain.hpp
  // can count it.
  bool is_plain;
  // It looks at when the event happened.
  bool uses_time;
  std::uint8_t reserved[6];

  template <typename T>
  [[nodiscard]] const T* at(std::uint32_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(this) + offset);
  }
};
LT_SHARED(HistPlan, 128, 8);
LT_SHARED_AT(HistPlan, table, 0);
LT_SHARED_AT(HistPlan, layout, 8);
LT_SHARED_AT(HistPlan, bytes, 56);
LT_SHARED_AT(HistPlan, pause_cell, 60);
LT_SHARED_AT(HistPlan, min_size, 64);
LT_SHARED_AT(HistPlan, key_count, 68);
LT_SHARED_AT(HistPlan, value_count, 72);
LT_SHARED_AT(HistPlan, variable_count, 76);
LT_SHARED_AT(HistPlan, reference_count, 80);
LT_SHARED_AT(HistPlan, action_count, 84);
LT_SHARED_AT(HistPlan, keys, 88);
LT_SHARED_AT(HistPlan, values, 92);
LT_SHARED_AT(HistPlan, variables, 96);
LT_SHARED_AT(HistPlan, references, 100);
LT_SHARED_AT(HistPlan, actions, 104);
LT_SHARED_AT(HistPlan, params, 108);
LT_SHARED_AT(HistPlan, ops, 112);
LT_SHARED_AT(HistPlan, event_pause_cell, 116);
LT_SHARED_AT(HistPlan, is_plain, 120);
LT_SHARED_AT(HistPlan, uses_time, 121);

}  // namespace landtrace::hist
