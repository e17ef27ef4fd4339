#include <fmt/format.h>

#include "base/character.hpp"
#include "event/declaration.hpp"
#include "event/probe_fields.hpp"
#include "event/field_type.hpp"
#include "event/synthetic.hpp"

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
  if (declaration.flavour != Flavour::kUser) {
    const bool is_of_probe = is_probe(declaration.flavour);
    for (const Field& field : declaration.fields) {
      if (is_of_probe && field.fetch.empty()) continue;  // where it happened
      if (!out.empty()) out += "; ";
      out += fmt::format("{} {}", is_of_probe ? fetch_text(field) : synthetic_type_text(field), field.name);
    }
    return out;
  }
  for (const Field& field : declaration.fields) {
    if (!out.empty()) out += "; ";
    out += field.type;
    out += ' ';
    out += field.name;
    if (is_struct(field.type)) out += fmt::format(" {}", field.size);
  }
  return out;
}

std::string flavour_text(const Declaration& declaration) {
  switch (declaration.flavour) {
    case Flavour::kUser:
      break;
    case Flavour::kSynthetic:
      return "synthetic";
    case Flavour::kEventProbe:
      return "probe " + declaration.attached;
    case Flavour::kEntryProbe:
      return "entry";
    case Flavour::kReturnProbe:
      return "return";
  }
  return "";
}

Result<Declaration> parse_declared(std::string name, std::string_view fields, std::string_view flavour) {
  constexpr std::string_view kProbe = "probe ";
  if (flavour == "synthetic") return declare_synthetic(std::move(name), fields);
  if (flavour.starts_with(kProbe)) {
    return declare_probe(Flavour::kEventProbe, std::move(name), fields, std::string(flavour.substr(kProbe.size())));
  }
  if (flavour == "entry") return declare_probe(Flavour::kEntryProbe, std::move(name), fields);
  if (flavour == "return") return declare_probe(Flavour::kReturnProbe, std::move(name), fields);
  if (!flavour.empty()) return fail(EINVAL, fmt::format("events of a flavour '{}' that is not known", flavour));
  Declaration declaration;
  declaration.name = std::move(name);
  LT_TRY(declaration.fields, parse_fields(fields));
  if (!declaration.fields.empty()) {
    const Field& last = declaration.fields.back();
    declaration.min_size = last.offset + last.size - abi::kEntryHeaderSize;
  }
  return declaration;
}

bool declares_same_fields(const Declaration& declaration, std::string_view fields) {
  return normalised(fields) == fields_text(declaration);
}

}  // namespace landtrace::event
