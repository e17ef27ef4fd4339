// The fields of probes: types of fetch arguments, how the values lie in an entry, and how they print.
//
// The values stand one behind the other without padding, the first at 8. Of a probe of a function they are behind the
// address of the place, or those of the function and of where it returns to. Texts are __data_loc: where behind all
// values they are; one of no length could not be read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::event {

inline constexpr std::uint32_t kMaxProbeArray = 64;  // elements

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
Field probe_field(const FetchType& type, std::uint32_t count, std::string name);
// "x64", "u8[4]".
std::string fetch_text(const Field& field);

// `fields`: those of the arguments. `attached`: of an event probe.
Declaration lay_out_probe(Flavour flavour, std::string name, std::vector<Field> fields, std::string attached = {});
// The reverse of fields_text().
Result<Declaration> declare_probe(Flavour flavour, std::string name, std::string_view fields,
                                  std::string attached = {});

std::string probe_print_format(const Declaration& declaration);
// Gives the fields of an event the fetch types that its print format names. False for another kind of event.
bool take_probe_format(Declaration& declaration, std::string_view print_format);

// Appends " (user_events.e1) n=0x2 s="abc"", " (0x401136) a=3" or " (0x401200 <- 0x401136) r=3".
void print_probe(std::string& out, const Declaration& declaration, std::span<const std::byte> payload);

}  // namespace landtrace::event
