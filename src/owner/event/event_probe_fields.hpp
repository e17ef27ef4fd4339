// The fields of event probes: types of fetch arguments, how the values lie in an entry, and how they print.
//
// The values stand one behind the other, the first at 8, without padding. Texts are __data_loc: where behind all values
// they are; one of no length could not be read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::event {

inline constexpr std::uint32_t kMaxEventProbeArray = 64;  // elements

// A type of fetch arguments.
struct FetchType {
  std::string_view name;         // "x64", "string", …
  std::string_view format_type;  // what the format file calls it
  std::uint32_t size;            // 4 for texts
  bool is_signed;
  bool is_text;
  std::string_view conversion;  // as `print fmt` shows it
};
// nullptr if no type has that name.
const FetchType* find_fetch_type(std::string_view name);

// `count`: elements of an array; 0: none.
Field event_probe_field(const FetchType& type, std::uint32_t count, std::string name);
// "x64", "u8[4]".
std::string fetch_text(const Field& field);

Declaration lay_out_event_probe(std::string name, std::vector<Field> fields, std::string attached);
// The reverse of fields_text().
Result<Declaration> declare_event_probe(std::string name, std::string_view fields, std::string attached);

std::string event_probe_print_format(const Declaration& declaration);
// Gives the fields of an event the fetch types that its print format names. False for another kind of event.
bool take_event_probe_format(Declaration& declaration, std::string_view print_format);

// Appends " (user_events.e1) n=0x2 s="abc"".
void print_event_probe(std::string& out, const Declaration& declaration, std::span<const std::byte> payload);

}  // namespace landtrace::event
