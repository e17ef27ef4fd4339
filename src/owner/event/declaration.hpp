// A declaration, `name type field;type field;…`, as the kernel's user_events document defines it: parsed
// into fields with offsets, and turned back into the texts that tracefs shows. Pure functions.
//
// Offsets count from the start of a trace entry, as in a `format` file: the common header (type, flags,
// preempt count, pid) is 8 bytes, so the first field is at 8 and the payload byte p is at offset p + 8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "abi/validator.hpp"
#include "base/result.hpp"

namespace landtrace::event {

// Longest declaration in bytes, the final NUL included (the kernel's limit).
inline constexpr std::size_t kMaxDeclaration = 512;
// Most payload bytes that the fields may need. An event that needs more than a record holds is an event: nobody can
// write it (E2BIG).
inline constexpr std::uint32_t kMaxFieldBytes = INT32_MAX;

// How a field's bytes are to be read.
enum class FieldKind : std::uint8_t {
  kInteger,        // 1, 2, 4 or 8 bytes
  kCharArray,      // char[N]: text that ends at the first NUL or at N
  kDataLocString,  // __data_loc char[]: u32 = size << 16 | offset from the start of the entry
  kRelLocString,   // __rel_loc char[]: u32 = size << 16 | offset from the end of this field
  kDataLocBytes,   // __data_loc of anything else
  kRelLocBytes,    // __rel_loc of anything else
  kStruct,         // struct NAME, with its size declared
  kDataLocStack,   // __data_loc long[]: addresses (synthetic events)
  kArray,          // elements of what `fetch` names (probes)
};

// What kind of event it is: how its fields lie in an entry, and how they are shown and printed.
enum class Flavour : std::uint8_t {
  kUser,         // user_events: the fields one behind the other
  kSynthetic,    // synthetic.hpp
  kEventProbe,   // probe_fields.hpp: made out of another event's fields
  kEntryProbe,   // … a place in a program's code
  kReturnProbe,  // … the return from a function of a program
};
// Probes of programs' functions, whichever file they were defined by.
inline bool is_function_probe(Flavour flavour) {
  return flavour == Flavour::kEntryProbe || flavour == Flavour::kReturnProbe;
}
inline bool is_probe(Flavour flavour) { return flavour == Flavour::kEventProbe || is_function_probe(flavour); }

struct Field {
  std::string type;  // as declared, for example "unsigned int", "char[20]", "__rel_loc char[]", "struct s"
  std::string name;
  std::uint32_t offset = 0;  // from the start of the entry
  std::uint32_t size = 0;    // in bytes; 4 for a dynamic location
  bool is_signed = false;    // as the `format` file says it
  FieldKind kind = FieldKind::kInteger;
  std::string fetch = {};  // of a probe: the type that its argument was given ("x64"), without "[N]"
  // Of a struct that was described (description.hpp), with their offsets in the entry too. Those of an array have no
  // names.
  std::vector<Field> members = {};

  friend bool operator==(const Field&, const Field&) = default;
};

// `struct float NAME 4` and `struct double NAME 8` are how our native API declares what the kernel has no type for.
inline bool is_float(const Field& field) { return field.type == "struct float" && field.size == sizeof(float); }
inline bool is_double(const Field& field) { return field.type == "struct double" && field.size == sizeof(double); }

struct Declaration {
  std::string name;
  std::vector<Field> fields;
  std::uint32_t min_size = 0;  // payload bytes that a write must have at least; up to kMaxFieldBytes
  Flavour flavour = Flavour::kUser;
  std::string attached = {};  // of an event probe: SYSTEM.EVENT

  friend bool operator==(const Declaration&, const Declaration&) = default;
};

// Parses what DIAG_IOCSREG's name_args holds. EINVAL with a sentence that names the offending part.
Result<Declaration> parse_declaration(std::string_view text);

// A declaration cut into its name and the rest, the name checked and the rest not. The views are into `text`.
// EINVAL when the name cannot be one, carries a flag (name:FLAG), or the text is too long.
struct DeclarationParts {
  std::string_view name;
  std::string_view fields;
};
Result<DeclarationParts> split_declaration(std::string_view text);

// Whether `fields` declares just what `declaration` has. This is what the kernel asks when the name is
// already registered: it compares word by word and parses nothing, so "u32 a " equals "u32 a" here although
// it is refused as a new declaration, and "char [4] a" is another declaration (EADDRINUSE), not a bad one. A field
// without a name at the end ("u32 ") equals nothing, not even itself.
bool declares_same_fields(const Declaration& declaration, std::string_view fields);

// Parses only the fields ("u32 a; u64 b"), the first at abi::kEntryHeaderSize.
Result<std::vector<Field>> parse_fields(std::string_view text);

// "u32 a; u64 b", the form that dynamic_events and synthetic_events show; empty for an event without fields. Of a
// probe its arguments as "x64 n; string s".
std::string fields_text(const Declaration& declaration);

// The reverse, where the flavour is known: "" (user_events), "synthetic", "probe SYSTEM.EVENT", "entry", "return".
std::string flavour_text(const Declaration& declaration);
Result<Declaration> parse_declared(std::string name, std::string_view fields, std::string_view flavour);

// The checks that a payload must pass before it is kept, for the data plane.
std::vector<abi::DynamicFieldCheck> dynamic_field_checks(const Declaration& declaration);

// The whole `format` file. `event_name` is the name in the events directory (it differs from
// declaration.name for multi-format events).
std::string format_text(const Declaration& declaration, std::string_view event_name, std::uint32_t id);

// The part after "print fmt: ", quotes and arguments.
std::string print_format(const Declaration& declaration);

// The reverse of format_text(), for trace files: reads name, id and fields. Tolerates any well-formed
// `format` text of a kernel; common_ fields are skipped. EINVAL with the line otherwise.
struct ParsedFormat {
  Declaration declaration;
  std::uint32_t id = 0;
};
Result<ParsedFormat> parse_format(std::string_view text);
// The same for a format file of that system, whose flavour is found out.
Result<ParsedFormat> parse_format(std::string_view text, std::string_view system);

}  // namespace landtrace::event
