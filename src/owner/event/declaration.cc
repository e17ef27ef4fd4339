#include "event/declaration.hpp"

#include <array>
#include <fmt/format.h>
#include <optional>

#include "base/character.hpp"
#include "event/field_type.hpp"

namespace landtrace::event {
namespace {

// The parts of one field, as single spaces separate them. As in the kernel a name may be empty, and so may what stands
// behind "struct " or "__data_loc ".
struct FieldParts {
  std::string_view type;
  std::string_view name;
  std::optional<std::string_view> size;
};

auto refuse(std::string_view field, std::string_view why) {
  return fail(EINVAL, fmt::format("field '{}': {}", field, why));
}

// Length of the words that only begin a type: the type then runs to the next space behind them.
std::size_t type_prefix_length(std::string_view field) {
  static constexpr std::array<std::string_view, 6> kPrefixes{
      "unsigned ", "struct ", "__data_loc unsigned ", "__data_loc ", "__rel_loc unsigned ", "__rel_loc "};
  for (const auto prefix : kPrefixes) {
    if (field.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

Result<FieldParts> split_field(std::string_view field) {
  const auto prefix = type_prefix_length(field);
  const auto type_end = field.find(' ', prefix);
  if (type_end == std::string_view::npos) return refuse(field, "a type and a name are needed");

  FieldParts parts{field.substr(0, type_end), field.substr(type_end + 1), {}};
  if (const auto name_end = parts.name.find(' '); name_end != std::string_view::npos) {
    if (!is_struct(parts.type)) return refuse(field, "only a struct has anything after its name");
    parts.size = parts.name.substr(name_end + 1);
    parts.name = parts.name.substr(0, name_end);
  }
  return parts;
}

Result<Field> parse_field(std::string_view text, std::uint32_t offset) {
  LT_TRY(const FieldParts parts, split_field(text));
  const auto size = parts.size ? parse_number(*parts.size, 10) : size_of_type(parts.type);
  if (!size) return refuse(text, parts.size ? "the size is not a number" : "the type has no known size");
  if (*size == 0) return refuse(text, "the size is 0");
  const std::uint32_t used = offset - abi::kEntryHeaderSize;
  if (*size > kMaxFieldBytes - used) return refuse(text, "ends beyond 2 GiB");

  Field field;
  field.type = parts.type;
  field.name = parts.name;
  field.offset = offset;
  field.size = *size;
  field.is_signed = !parts.type.starts_with('u');  // the kernel's whole notion of it: a struct is signed too
  field.kind = kind_of(parts.type, *size);
  return field;
}

Result<void> check_name(std::string_view name) {
  // An event is a directory named after it. The kernel accepts these and breaks its events directory.
  if (name.empty()) return fail(EINVAL, "the event has no name");
  if (name == "." || name == ".." || name.find('/') != std::string_view::npos) {
    return fail(EINVAL, fmt::format("event name '{}' cannot be a file name", name));
  }
  if (name.find(':') != std::string_view::npos) {
    return fail(EINVAL, fmt::format("event name '{}' carries a flag; none is supported", name));
  }
  return {};
}

}  // namespace

Result<DeclarationParts> split_declaration(std::string_view text) {
  if (text.size() >= kMaxDeclaration) return fail(EINVAL, "the declaration is longer than 511 bytes");
  if (text.find('\0') != std::string_view::npos) return fail(EINVAL, "the declaration holds a NUL");
  const auto name_end = text.find(' ');
  DeclarationParts parts{text.substr(0, name_end), {}};
  if (name_end != std::string_view::npos) parts.fields = text.substr(name_end + 1);
  LT_CHECK(check_name(parts.name));
  return parts;
}

Result<std::vector<Field>> parse_fields(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return fail(EINVAL, "the declaration holds a NUL");
  std::vector<Field> fields;
  std::uint32_t offset = abi::kEntryHeaderSize;
  while (!text.empty()) {
    const auto end = text.find(';');
    std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    part = skip_spaces(part);
    if (part.empty()) continue;
    LT_TRY(Field field, parse_field(part, offset));
    offset += field.size;
    fields.push_back(std::move(field));
  }
  return fields;
}

Result<Declaration> parse_declaration(std::string_view text) {
  LT_TRY(const DeclarationParts parts, split_declaration(text));
  Declaration declaration;
  declaration.name = parts.name;
  LT_TRY(declaration.fields, parse_fields(parts.fields));
  if (!declaration.fields.empty()) {
    const Field& last = declaration.fields.back();
    declaration.min_size = last.offset + last.size - abi::kEntryHeaderSize;
  }
  return declaration;
}

}  // namespace landtrace::event
