#include <fmt/format.h>
#include <iterator>

#include "event/declaration.hpp"
#include "event/probe_fields.hpp"
#include "event/field_type.hpp"
#include "event/synthetic.hpp"

namespace landtrace::event {
namespace {

constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

// C order: an array's brackets go behind the name, and stay in the type only for __data_loc. They are empty:
// the kernel never fills in the length of a user event's array and prints what its memory held.
std::string c_declaration(const Field& field) {
  const auto bracket = is_data_loc(field.type) ? std::string::npos : field.type.find('[');
  if (bracket == std::string::npos) return fmt::format("{} {}", field.type, field.name);
  return fmt::format("{} {}[]", std::string_view(field.type).substr(0, bracket), field.name);
}

std::string_view conversion_of(const Field& field) {
  if (const auto* integer = find_integer_type(field.type)) return integer->conversion;
  return field.type.find("char[") != std::string::npos ? "%s" : "%llu";
}

std::string argument_of(const Field& field) {
  if (mentions_char(field.type)) {
    if (is_data_loc(field.type)) return fmt::format("__get_str({})", field.name);
    if (is_rel_loc(field.type)) return fmt::format("__get_rel_str({})", field.name);
  }
  return fmt::format("REC->{}", field.name);
}

}  // namespace

std::string print_format(const Declaration& declaration) {
  if (declaration.flavour == Flavour::kSynthetic) return synthetic_print_format(declaration);
  if (is_probe(declaration.flavour)) return probe_print_format(declaration);
  std::string conversions;
  std::string arguments;
  for (const Field& field : declaration.fields) {
    if (!conversions.empty()) conversions += ' ';
    fmt::format_to(std::back_inserter(conversions), "{}={}", field.name, conversion_of(field));
    fmt::format_to(std::back_inserter(arguments), ", {}", argument_of(field));
  }
  return fmt::format("\"{}\"{}", conversions, arguments);
}

std::string format_text(const Declaration& declaration, std::string_view event_name, std::uint32_t id) {
  std::string out = fmt::format("name: {}\nID: {}\nformat:\n{}\n", event_name, id, kCommonFields);
  for (const Field& field : declaration.fields) {
    fmt::format_to(std::back_inserter(out), "\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", c_declaration(field),
                   field.offset, field.size, field.is_signed ? 1 : 0);
  }
  fmt::format_to(std::back_inserter(out), "\nprint fmt: {}\n", print_format(declaration));
  return out;
}

}  // namespace landtrace::event
