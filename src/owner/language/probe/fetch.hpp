// Arguments of probes, [NAME=]FETCH[:TYPE], once they are read.
//
//   FETCH: $FIELD                                                                    of event probes alone
//        | %REGISTER | $stack | $stackN | $retval | $argN | @+OFFSET | @SYMBOL       of probes of functions alone
//        | $argN | $arg*                                                             of a USDT place
//        | $elapsed                                                                  of their returns alone
//        | $comm | +|-[u]OFFSET(FETCH) | @ADDRESS | \NUMBER | \"TEXT"
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agent/recipe.hpp"
#include "event/declaration.hpp"
#include "event/probe_fields.hpp"
#include "language/command_text.hpp"
#include "language/probe/usdt_operand.hpp"

namespace landtrace::language {

inline constexpr std::size_t kMaxProbeArguments = 128;
// Bytes of all values.
inline constexpr std::uint32_t kMaxProbeValues = 3072;

// Where a value comes from, which memory is read through it, and how the result is kept.
struct Fetch {
  enum class Source : std::uint8_t {
    kField,       // of the event that an event probe is attached to
    kComm,        // the thread's name
    kNumber,      // `number`
    kText,        // `text`
    kRegister,    // `reg`
    kStackWord,   // the word of the stack with the index `number`
    kArgument,    // the function's argument with the index `number`, as it was at entry
    kElapsed,     // ns between the function's call and its return
    kFileOffset,  // the address of what stands `number` bytes from the beginning of the object's file
    kSymbol,      // the address of `text`, a symbol of the object
    kOperand,     // the USDT argument with the index `number`: at this place `operand`
  };
  enum class Store : std::uint8_t {
    kValue,       // itself
    kMemory,      // what is `store_offset` behind it in memory
    kText,        // the text there
    kSymbolText,  // what the address is called
  };
  Source source = Source::kNumber;
  Store store = Store::kValue;
  agent::Register reg = agent::kRax;  // kRegister
  event::Field field = {};            // kField
  std::uint64_t number = 0;
  std::string text = {};
  std::vector<std::int64_t> steps = {};  // the value is replaced by the 8 bytes that are so far behind it
  std::int64_t store_offset = 0;
  std::uint8_t bits = 0;  // of a bit field; 0: not a bit field
  std::uint8_t first_bit = 0;
  UsdtOperand operand = {};  // kOperand
};

struct ProbeArgument {
  std::string name;
  std::string text;  // as it was written
  const event::FetchType* type = nullptr;
  std::uint32_t count = 0;  // of an array
  Fetch fetch;
};
// At that place, one of several of a USDT probe. Arguments that it does not have are 0.
std::vector<ProbeArgument> arguments_at(const UsdtPlace& place, std::vector<ProbeArgument> arguments);
// The fields that they make.
std::vector<event::Field> fields_of(const std::vector<ProbeArgument>& arguments);
// " NAME=FETCH…" of each, as the files show them.
std::string arguments_text(const std::vector<ProbeArgument>& arguments);

// The kernel logs some refusals twice, and some not at all.
struct ProbeRefusal {
  int code = EINVAL;
  std::vector<CommandRefusal> logged = {};
};
template <typename T>
using AcceptedProbe = tl::expected<T, ProbeRefusal>;

}  // namespace landtrace::language
