#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "event/declaration.hpp"
#include "event/probe_fields.hpp"
#include "event/field_type.hpp"
#include "event/synthetic.hpp"

namespace landtrace::event {
namespace {

// Walks over the text. It does not go by lines: the name of a user event's field may hold a newline.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool is_at(std::string_view literal) const { return rest_.starts_with(literal); }

  bool skip(std::string_view literal) {
    if (!is_at(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  // What stands before the next `literal`; both are consumed.
  std::optional<std::string_view> until(std::string_view literal) {
    const auto end = rest_.find(literal);
    if (end == std::string_view::npos) return std::nullopt;
    const auto found = rest_.substr(0, end);
    rest_.remove_prefix(end + literal.size());
    return found;
  }

  // "KEY:NUMBER;", with blanks before it.
  std::optional<std::uint32_t> property(std::string_view key) {
    skip_blanks();
    if (!skip(key)) return std::nullopt;
    const auto number = until(";");
    return number ? parse_number(*number, 10) : std::nullopt;
  }

  [[nodiscard]] std::string_view line() const { return rest_.substr(0, rest_.find('\n')); }

 private:
  std::string_view rest_;
};

auto refuse(std::string_view line) { return fail(EINVAL, fmt::format("not a line of a format file: '{}'", line)); }

// The brackets that belong to the type of NAME[length]. The length that is shown cannot be trusted for a user
// event (the kernel prints uninitialised memory), so where elements are bytes it comes from the size.
std::string array_suffix(std::string_view type, std::string_view length, std::uint32_t size) {
  if (is_rel_loc(type) || size == 0) return "[]";
  const auto* element = find_integer_type(type);
  if (element != nullptr && element->size == 1) return fmt::format("[{}]", size);
  return fmt::format("[{}]", length);
}

// "TYPE NAME" or "TYPE NAME[length]", where only TYPE may hold spaces.
bool set_type_and_name(Field& field, std::string_view text) {
  const auto space = text.rfind(' ');
  if (space == std::string_view::npos) return false;
  field.type = text.substr(0, space);
  field.name = text.substr(space + 1);
  const auto bracket = field.name.find('[');
  if (bracket == std::string::npos || !field.name.ends_with(']')) return true;
  const auto length = field.name.substr(bracket + 1, field.name.size() - bracket - 2);
  field.type += array_suffix(field.type, length, field.size);
  field.name.resize(bracket);
  return true;
}

// From behind "field:" to the end of the line.
std::optional<Field> read_field(Reader& reader) {
  const auto text = reader.until(";");
  const auto offset = reader.property("offset:");
  const auto size = reader.property("size:");
  if (!text || !offset || !size) return std::nullopt;
  Field field;
  field.offset = *offset;
  field.size = *size;
  field.is_signed = reader.property("signed:").value_or(0) != 0;  // the oldest kernels do not print it
  reader.skip_blanks();
  if (!reader.skip("\n") && !reader.at_end()) return std::nullopt;
  if (!set_type_and_name(field, *text)) return std::nullopt;
  field.kind = kind_of(field.type, field.size);
  return field;
}

bool fits_in_record(const Field& field) {
  return field.offset >= abi::kEntryHeaderSize &&
         std::uint64_t{field.offset} + field.size <= std::uint64_t{kMaxFieldBytes} + abi::kEntryHeaderSize;
}

void append_field(Declaration& declaration, Field field) {
  const auto end = field.offset + field.size - abi::kEntryHeaderSize;
  declaration.min_size = std::max(declaration.min_size, end);
  declaration.fields.push_back(std::move(field));
}

// The common fields come first and end with an empty line; a user event may call its own field common_pid.
Result<void> read_fields(Reader& reader, Declaration& declaration) {
  bool in_common = true;
  while (!reader.at_end() && !reader.is_at("print fmt:")) {
    if (reader.skip("\n")) {
      in_common = false;
      continue;
    }
    const auto line = reader.line();
    reader.skip_blanks();
    // Old kernels mark some fields of their own events so.
    if (!reader.skip("field:") && !reader.skip("field special:")) return refuse(line);
    auto field = read_field(reader);
    if (!field) return refuse(line);
    if (in_common && field->name.starts_with("common_")) continue;
    if (!fits_in_record(*field)) return refuse(line);
    append_field(declaration, *std::move(field));
  }
  return {};
}

// Of these a dynamic location has a place of 8 bytes.
Result<void> take_synthetic(Declaration& declaration) {
  declaration.flavour = Flavour::kSynthetic;
  for (Field& field : declaration.fields) {
    if (!is_data_loc(field.type)) continue;
    if (field.size < sizeof(std::uint32_t)) return refuse(field.type + ' ' + field.name);
    field.kind = mentions_char(field.type) ? FieldKind::kDataLocString : FieldKind::kDataLocStack;
  }
  return {};
}

}  // namespace

Result<ParsedFormat> parse_format(std::string_view text, std::string_view system) {
  LT_TRY(ParsedFormat parsed, parse_format(text));
  constexpr std::string_view kPrintFormat = "\nprint fmt: ";
  const auto at = text.rfind(kPrintFormat);
  if (system == kSyntheticSystem) {
    LT_CHECK(take_synthetic(parsed.declaration));
  } else if (at != std::string_view::npos) {
    take_probe_format(parsed.declaration, text.substr(at + kPrintFormat.size()));
  }
  return parsed;
}

Result<ParsedFormat> parse_format(std::string_view text) {
  Reader reader(text);
  ParsedFormat parsed;
  if (!reader.skip("name: ")) return refuse(reader.line());
  const auto first_line = reader.line();
  const auto name = reader.until("\nID: ");
  if (!name) return refuse(first_line);
  parsed.declaration.name = *name;

  const auto id_line = reader.line();
  const auto id = reader.until("\n");
  const auto number = id ? parse_number(*id, 10) : std::nullopt;
  if (!number) return refuse(id_line);
  parsed.id = *number;

  if (!reader.skip("format:\n")) return refuse(reader.line());
  LT_CHECK(read_fields(reader, parsed.declaration));
  return parsed;
}

}  // namespace landtrace::event
