#include <fmt/format.h>

#include "event/character.hpp"
#include "event/declaration.hpp"
#include "event/field_type.hpp"

namespace landtrace::event {
namespace {

// The words of a field list with one space between, also behind each ';', and no ';' at the very end.
std::string normalised(std::string_view fields) {
  std::string out;
  bool space_due = false;
  for (const char c : fields) {
    if (is_space(c)) {
      space_due = true;
      continue;
    }
    if (space_due && !out.empty()) out += ' ';
    out += c;
    space_due = c == ';';
  }
  if (out.ends_with(';')) out.pop_back();
  return out;
}

}  // namespace

std::string fields_text(const Declaration& declaration) {
  std::string out;
  for (const Field& field : declaration.fields) {
    if (!out.empty()) out += "; ";
    out += field.type;
    out += ' ';
    out += field.name;
    if (is_struct(field.type)) out += fmt::format(" {}", field.size);
  }
  return out;
}

bool declares_same_fields(const Declaration& declaration, std::string_view fields) {
  return normalised(fields) == normalised(fields_text(declaration));
}

}  // namespace landtrace::event
