#include "dwarf/reading/value.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>

namespace landtrace::dwarf {
namespace {

using Kind = Type::Kind;

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kMostElements = 64;  // of an array that is fetched
constexpr std::int64_t kFarthest = std::int64_t{1} << 40;

constexpr const char* kInVectorRegister = "is in a vector register, which probes do not read";
constexpr const char* kNotThere = "is not in memory or in a register as a whole";

std::string memory_text(std::string_view base, std::int64_t offset) { return fmt::format("{:+}({})", offset, base); }

// Where the value is, if it is in memory.
OrWhy<std::string> place_text(const Value& value) {
  if (value.kind == Value::Kind::kMemory) return memory_text(value.base, value.offset);
  if (value.kind == Value::Kind::kAbsolute) return fmt::format("@+{}", value.number);
  return why("is in a register, not in memory");
}

// The piece that has so many bytes from `begin` on.
const Value::Piece* piece_with(const Value& value, std::uint64_t begin, std::uint64_t size) {
  const auto found = std::find_if(value.pieces.begin(), value.pieces.end(), [&](const Value::Piece& piece) {
    return begin >= piece.begin && begin - piece.begin < piece.size && size <= piece.size - (begin - piece.begin);
  });
  return found == value.pieces.end() ? nullptr : &*found;
}

// The value itself, of up to 8 bytes.
OrWhy<std::string> load_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kMemory:
    case Value::Kind::kAbsolute:
      return place_text(value);
    case Value::Kind::kConstant:
      return fmt::format("\\{}", value.number);
    case Value::Kind::kSum:
      if (value.offset != 0) return why("is computed from a register, which a fetch argument cannot do");
      if (value.base.empty()) return why(kInVectorRegister);
      return value.base;
    case Value::Kind::kPieces: {
      const auto begin = static_cast<std::uint64_t>(value.offset);
      const Value::Piece* const piece = piece_with(value, begin, std::max<std::uint64_t>(value.type.size, 1));
      if (piece == nullptr) return why(kNotThere);
      if (piece->base.empty()) return why(kInVectorRegister);
      if (piece->begin != begin) return why("is in the upper part of a register");
      return piece->base;
    }
  }
  return why(kNotThere);
}

// What a pointer points to.
OrWhy<Value> pointed_to(Value value, const Type& type) {
  if (value.kind == Value::Kind::kSum && !value.base.empty()) return in_memory(value.base, value.offset, type);
  auto text = load_text(value);
  if (!text) return why(text.error());
  return in_memory(*std::move(text), 0, type);
}

Type target_type(Type type) { return type_of(type.die); }

bool is_far(std::int64_t offset) { return offset > kFarthest || offset < -kFarthest; }

Value moved(Value value, std::int64_t by) {
  if (value.kind == Value::Kind::kAbsolute) {
    value.number += static_cast<std::uint64_t>(by);
  } else {
    value.offset = sum_of(value.offset, by);
  }
  return value;
}

// A struct of one word in a register is a piece of itself.
Value as_pieces(Value value) {
  if (value.kind != Value::Kind::kSum || value.offset != 0) return value;
  value.pieces = {{0, kWord, value.base}};
  value.kind = Value::Kind::kPieces;
  return value;
}

std::string bits_type(unsigned bits, std::uint64_t first, std::uint64_t size) {
  return fmt::format("b{}@{}/{}", bits, first, size * 8);
}

OrWhy<std::string> bit_field_text(const Value& value) {
  if (value.kind == Value::Kind::kPieces) {
    const Value::Piece* const piece = piece_with(value, value.first_bit / 8, (value.bits + 7) / 8);
    if (piece == nullptr || piece->base.empty()) return why(kNotThere);
    return fmt::format("{}:{}", piece->base, bits_type(value.bits, value.first_bit - piece->begin * 8, kWord));
  }
  for (std::uint64_t size = std::max<std::uint64_t>(value.type.size, 1); size <= kWord; size *= 2) {
    const std::uint64_t begin = value.first_bit / (size * 8) * size;
    const std::uint64_t first = value.first_bit - begin * 8;
    if (first + value.bits > size * 8) continue;
    const auto place = place_text(moved(value, static_cast<std::int64_t>(begin)));
    if (!place) return place;
    return fmt::format("{}:{}", *place, bits_type(value.bits, first, size));
  }
  return why("is a bit field that lies in two words");
}

bool is_char(const Type& type) { return type.kind == Kind::kChar && type.size == 1; }

OrWhy<std::string> array_text(const Value& value) {
  Type array = value.type;
  const Type element = target_type(array);
  const auto place = place_text(value);
  if (!place) return place;
  if (is_char(element)) return *place + ":string";
  const std::string type = fetch_type(element);
  if (type.empty()) return why("is an array of what probes have no type for; name an element");
  const std::uint64_t count = std::min(array_count(array.die), kMostElements);
  if (count == 0) return why("is an array of unknown length; name an element");
  return fmt::format("{}:{}[{}]", *place, type, count);
}

OrWhy<std::string> number_text(const Value& value) {
  if (value.bits != 0) return bit_field_text(value);
  const std::string type = fetch_type(value.type);
  if (type.empty()) return why("has a type that probes have none for");
  if (value.kind == Value::Kind::kPieces) {
    const auto begin = static_cast<std::uint64_t>(value.offset);
    const Value::Piece* const piece = piece_with(value, begin, value.type.size);
    if (piece != nullptr && !piece->base.empty() && piece->begin != begin) {
      const std::string bits = bits_type(static_cast<unsigned>(value.type.size * 8), (begin - piece->begin) * 8, kWord);
      if (value.type.kind != Kind::kSigned) return fmt::format("{}:{}", piece->base, bits);
      return why(fmt::format("is in the upper part of a register, and may be negative: take its bits, {}:{}",
                             piece->base, bits));
    }
  }
  const auto text = load_text(value);
  if (!text) return text;
  return fmt::format("{}:{}", *text, type);
}

// As the user wants it.
OrWhy<std::string> typed_text(const Value& value, std::string_view type) {
  const bool is_text = type == "string" || type == "ustring";
  const bool is_of_memory = is_text || type.find('[') != std::string_view::npos;
  if (!is_of_memory) {
    if (value.bits != 0) return why("is a bit field: it has no other type");
    const auto text = load_text(value);
    return text ? OrWhy<std::string>(fmt::format("{}:{}", *text, type)) : text;
  }
  // What a pointer points to is meant.
  auto meant = value.type.kind == Kind::kPointer ? pointed_to(value, {}) : OrWhy<Value>(value);
  if (!meant) return why(meant.error());
  const auto place = place_text(*meant);
  return place ? OrWhy<std::string>(fmt::format("{}:{}", *place, type)) : place;
}

}  // namespace

Value in_memory(std::string base, std::int64_t offset, const Type& type) {
  Value value;
  value.kind = Value::Kind::kMemory;
  value.base = std::move(base);
  value.offset = offset;
  value.type = type;
  return value;
}

Value in_register(std::string base, const Type& type) {
  Value value;
  value.base = std::move(base);
  value.type = type;
  return value;
}

OrWhy<Value> without_reference(Value value) {
  if (value.type.kind != Kind::kReference) return value;
  const Type type = target_type(value.type);
  return pointed_to(std::move(value), type);
}

OrWhy<Value> member_of_value(Value value, std::string_view name) {
  auto direct = without_reference(std::move(value));
  if (!direct) return direct;
  if (direct->type.kind == Kind::kPointer) {
    const Type type = target_type(direct->type);
    direct = pointed_to(*std::move(direct), type);
    if (!direct) return direct;
  }
  if (direct->type.kind != Kind::kStruct) return why(fmt::format("is no struct: it has no '{}'", name));
  auto member = find_member(direct->type, name);
  if (!member) {
    Dwarf_Die die = direct->type.die;
    if (is_declaration(die)) {
      return why(fmt::format("is a struct {}, whose members its source file does not know", name_of(die)));
    }
    const std::string names = member_names(direct->type);
    return why(fmt::format("has no '{}'{}{}", name, names.empty() ? "" : "; it has ", names));
  }
  const Type type = type_of(member->die);
  if (is_far(static_cast<std::int64_t>(member->offset)) || is_far(static_cast<std::int64_t>(member->first_bit))) {
    return why("is too large");
  }
  Value found = as_pieces(*std::move(direct));
  if (member->bits == 0) found = moved(std::move(found), static_cast<std::int64_t>(member->offset));
  found.bits = member->bits;
  found.first_bit = member->first_bit;
  found.type = type;
  return found;
}

OrWhy<Value> element_of_value(Value value, std::int64_t index) {
  auto direct = without_reference(std::move(value));
  if (!direct) return direct;
  const bool is_pointer = direct->type.kind == Kind::kPointer;
  if (!is_pointer && direct->type.kind != Kind::kArray) return why("is no array or pointer");
  const Type element = target_type(direct->type);
  const std::uint64_t size = element.size;
  if (size == 0) return why("has elements whose size is not known");
  if (is_far(index) || size > static_cast<std::uint64_t>(kFarthest) ||
      is_far(static_cast<std::int64_t>(static_cast<double>(index) * static_cast<double>(size)))) {
    return why("has no such element");
  }
  if (is_pointer) direct = pointed_to(*std::move(direct), element);
  if (!direct) return direct;
  const bool is_in_register = direct->kind == Value::Kind::kSum || direct->kind == Value::Kind::kConstant;
  Value found =
      moved(as_pieces(*std::move(direct)), is_in_register && index < 0 ? 0 : index * static_cast<std::int64_t>(size));
  found.type = element;
  return found;
}

OrWhy<std::string> fetch_text(Value value, std::string_view type) {
  auto direct = without_reference(std::move(value));
  if (!direct) return why(direct.error());
  if (!type.empty()) return typed_text(*direct, type);
  switch (direct->type.kind) {
    case Kind::kStruct: {
      const std::string names = member_names(direct->type);
      return why("is a struct: name one of its members" + (names.empty() ? "" : ": " + names));
    }
    case Kind::kFloat: {
      const bool is_in_memory = direct->kind == Value::Kind::kMemory || direct->kind == Value::Kind::kAbsolute;
      if (!is_in_memory) return why(fmt::format("is a floating-point number, and {}", kInVectorRegister));
      return why(fmt::format("is a floating-point number, for which probes have no type: :x{} shows its bits",
                             direct->type.size * 8));
    }
    case Kind::kArray:
      return array_text(*direct);
    case Kind::kPointer: {
      const bool is_text = is_char(target_type(direct->type)) && dwarf_tag(&direct->type.die) == DW_TAG_pointer_type;
      return is_text ? typed_text(*direct, "string") : number_text(*direct);
    }
    default:
      return number_text(*direct);
  }
}

}  // namespace landtrace::dwarf
