#include "dwarf/reading/type.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <array>

#include "dwarf/reading/object.hpp"

namespace landtrace::dwarf {
namespace {

using Kind = Type::Kind;

constexpr std::uint64_t kPointerSize = 8;
constexpr std::size_t kMostMembersNamed = 12;
constexpr std::size_t kLongestTypeName = 200;

std::optional<Dwarf_Die> target_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr) return std::nullopt;
  if (dwarf_formref_die(&attribute, &target) == nullptr) return std::nullopt;
  return target;
}

bool is_qualifier(int tag) {
  switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
      return true;
    default:
      return false;
  }
}

Kind kind_of_base(Dwarf_Die& die) {
  switch (number_of(die, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean:
      return Kind::kBool;
    case DW_ATE_signed:
      return Kind::kSigned;
    case DW_ATE_signed_char:
      return std::string_view(name_of(die)) == "char" ? Kind::kChar : Kind::kSigned;
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
    case DW_ATE_address:
      return Kind::kUnsigned;
    case DW_ATE_unsigned_char:
      // Where char has no sign, as on some machines.
      return std::string_view(name_of(die)) == "char" ? Kind::kChar : Kind::kUnsigned;
    case DW_ATE_float:
    case DW_ATE_complex_float:
    case DW_ATE_imaginary_float:
    case DW_ATE_decimal_float:
      return Kind::kFloat;
    default:
      return Kind::kOther;
  }
}

Kind kind_of_enum(Dwarf_Die& die) {
  if (auto under = target_of(die)) {
    const Type type = type_of(die);
    if (type.is_number()) return type.kind;
  }
  return number_of(die, DW_AT_encoding).value_or(DW_ATE_signed) == DW_ATE_unsigned ? Kind::kUnsigned : Kind::kSigned;
}

Kind kind_of(Dwarf_Die& die) {
  switch (dwarf_tag(&die)) {
    case DW_TAG_base_type:
      return kind_of_base(die);
    case DW_TAG_enumeration_type:
      return kind_of_enum(die);
    case DW_TAG_pointer_type:
      return Kind::kPointer;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return Kind::kReference;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return Kind::kStruct;
    case DW_TAG_array_type:
      return Kind::kArray;
    case DW_TAG_subroutine_type:
      return Kind::kFunction;
    case DW_TAG_unspecified_type:  // nullptr_t
      return Kind::kPointer;
    default:
      return Kind::kOther;
  }
}

std::uint64_t size_of(Dwarf_Die& die, Kind kind) {
  if (kind == Kind::kPointer || kind == Kind::kReference) return kPointerSize;
  Dwarf_Word size = 0;
  if (kind == Kind::kArray) return dwarf_aggregate_size(&die, &size) == 0 ? size : 0;
  return number_of(die, DW_AT_byte_size).value_or(0);
}

std::string_view struct_word(int tag) {
  switch (tag) {
    case DW_TAG_structure_type:
      return "struct ";
    case DW_TAG_union_type:
      return "union ";
    case DW_TAG_enumeration_type:
      return "enum ";
    default:
      return "";
  }
}

bool is_c(Dwarf_Die& die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
      return true;
    default:
      return false;
  }
}

std::string joined(std::string text, std::string_view what) {
  const bool has_space = text.ends_with('*') || text.ends_with('&');
  return text + (has_space ? "" : " ") + std::string(what);
}

// `die`: a type, nullopt void.
std::string named(std::optional<Dwarf_Die> die, int depth) {
  if (!die) return "void";
  if (depth == kMostNested) return "…";
  const int tag = dwarf_tag(&*die);
  const std::string_view name = name_of(*die);
  switch (tag) {
    case DW_TAG_pointer_type:
      return name.empty() ? joined(named(target_of(*die), depth + 1), "*") : std::string(name);
    case DW_TAG_reference_type:
      return joined(named(target_of(*die), depth + 1), "&");
    case DW_TAG_rvalue_reference_type:
      return joined(named(target_of(*die), depth + 1), "&&");
    case DW_TAG_const_type:
    case DW_TAG_volatile_type: {
      const std::string_view word = tag == DW_TAG_const_type ? "const" : "volatile";
      auto target = target_of(*die);
      std::string text = named(target, depth + 1);
      return text.ends_with('*') ? text + std::string(word) : fmt::format("{} {}", word, text);
    }
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      return named(target_of(*die), depth + 1);
    case DW_TAG_array_type: {
      const std::uint64_t count = array_count(*die);
      const std::string element = named(target_of(*die), depth + 1);
      return count == 0 ? element + " []" : fmt::format("{} [{}]", element, count);
    }
    case DW_TAG_subroutine_type:
      return named(target_of(*die), depth + 1) + " ()";
    default:
      break;
  }
  const std::string_view word = is_c(*die) ? struct_word(tag) : "";
  return fmt::format("{}{}", word, name.empty() ? "(unnamed)" : name);
}

bool is_struct_member(Dwarf_Die& die) {
  const int tag = dwarf_tag(&die);
  // Where a virtual base class is stands in the object itself.
  if (tag == DW_TAG_inheritance) return number_of(die, DW_AT_data_member_location).has_value();
  // A static member is no part of it.
  return tag == DW_TAG_member && dwarf_hasattr(&die, DW_AT_external) == 0;
}

Member member_of(Dwarf_Die& die) {
  Member member{die, number_of(die, DW_AT_data_member_location).value_or(0), 0, 0};
  member.bits = static_cast<unsigned>(number_of(die, DW_AT_bit_size).value_or(0));
  if (member.bits == 0) return member;
  if (const auto first = number_of(die, DW_AT_data_bit_offset)) {
    member.first_bit = *first;
  } else {
    // Before DWARF 4: from the most significant bit of what it is stored in.
    const std::uint64_t stored = number_of(die, DW_AT_byte_size).value_or(type_of(die).size) * 8;
    const std::uint64_t from_top = number_of(die, DW_AT_bit_offset).value_or(0);
    member.first_bit = member.offset * 8 + stored - from_top - member.bits;
  }
  return member;
}

std::optional<Member> find_within(const Type& type, std::string_view name, int depth) {
  if (depth == kMostNested) return std::nullopt;
  std::optional<Member> found;
  for_each_member(type, [&](const Member& member) {
    Dwarf_Die die = member.die;
    const std::string_view own = name_of(die);
    if (own == name && dwarf_tag(&die) == DW_TAG_member) {
      found = member;
    } else if (own.empty() || dwarf_tag(&die) == DW_TAG_inheritance) {
      found = find_within(type_of(die), name, depth + 1);
      if (found) found->offset += member.offset;
      if (found) found->first_bit += member.offset * 8;
    }
    return !found;
  });
  return found;
}

bool has_destructor(Dwarf_Die type) {
  Dwarf_Die child;
  if (dwarf_child(&type, &child) != 0) return false;
  do {
    const bool is_one = dwarf_tag(&child) == DW_TAG_subprogram && name_of(child)[0] == '~';
    if (is_one && number_of(child, DW_AT_defaulted).value_or(0) == 0) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

bool is_by_address(const Type& type, int depth) {
  if (type.kind != Kind::kStruct || depth == kMostNested) return false;
  Dwarf_Die die = type.die;
  if (const auto convention = number_of(die, DW_AT_calling_convention)) {
    return *convention == DW_CC_pass_by_reference;
  }
  if (has_destructor(die)) return true;
  bool is_one = false;
  for_each_member(type, [&](const Member& member) {
    Dwarf_Die each = member.die;
    is_one = is_by_address(type_of(each), depth + 1);
    return !is_one;
  });
  return is_one;
}

}  // namespace

bool is_declaration(Dwarf_Die& die) { return dwarf_hasattr(&die, DW_AT_declaration) != 0; }

const char* name_of(Dwarf_Die& die) {
  const char* const name = dwarf_diename(&die);
  return name == nullptr ? "" : name;
}

std::optional<std::uint64_t> number_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word number = 0;
  if (dwarf_attr_integrate(&die, attribute, &found) == nullptr) return std::nullopt;
  if (dwarf_formudata(&found, &number) != 0) return std::nullopt;
  return number;
}

Type type_of(Dwarf_Die& die) {
  auto at = target_of(die);
  for (int depth = 0; at && is_qualifier(dwarf_tag(&*at)); ++depth) {
    if (depth == kMostNested) return {Kind::kOther, 0, *at};
    at = target_of(*at);
  }
  if (!at) return {};
  Type type{Kind::kOther, 0, *at};
  // An enumeration's own type is a base type, not another enumeration: no recursion beyond that.
  const bool is_enum_of_enum = dwarf_tag(&die) == DW_TAG_enumeration_type && dwarf_tag(&*at) == DW_TAG_enumeration_type;
  if (is_enum_of_enum) return type;
  type.kind = kind_of(type.die);
  type.size = size_of(type.die, type.kind);
  return type;
}

std::string type_name(Dwarf_Die& die) {
  std::string name = named(target_of(die), 0);
  if (name.size() > kLongestTypeName) name = name.substr(0, kLongestTypeName) + "…";
  return name;
}

bool is_vector(const Type& type) {
  Dwarf_Attribute attribute;
  bool is_set = false;
  return type.kind == Kind::kArray &&
         dwarf_attr_integrate(&const_cast<Dwarf_Die&>(type.die), DW_AT_GNU_vector, &attribute) != nullptr &&
         dwarf_formflag(&attribute, &is_set) == 0 && is_set;
}

std::uint64_t array_count(Dwarf_Die& array) {
  Dwarf_Die range;
  if (dwarf_child(&array, &range) != 0) return 0;
  do {
    if (dwarf_tag(&range) != DW_TAG_subrange_type) continue;
    if (const auto count = number_of(range, DW_AT_count)) return *count;
    const auto last = number_of(range, DW_AT_upper_bound);
    return last && *last != ~0ull ? *last + 1 : 0;
  } while (dwarf_siblingof(&range, &range) == 0);
  return 0;
}

void for_each_member(const Type& type, const std::function<bool(const Member&)>& look) {
  Dwarf_Die die = type.die, child;
  if (type.kind != Kind::kStruct || dwarf_child(&die, &child) != 0) return;
  do {
    if (is_struct_member(child) && !look(member_of(child))) return;
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::optional<Member> find_member(const Type& type, std::string_view name) { return find_within(type, name, 0); }

std::string member_names(const Type& type) {
  std::string names;
  std::size_t count = 0;
  for_each_member(type, [&](const Member& member) {
    Dwarf_Die die = member.die;
    const std::string_view name = name_of(die);
    if (name.empty() || dwarf_tag(&die) != DW_TAG_member) return true;
    if (++count > kMostMembersNamed) {
      names += ", …";
      return false;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    return true;
  });
  return names;
}

bool is_passed_by_address(const Type& type) { return is_by_address(type, 0); }

std::string fetch_type(const Type& type) {
  if (type.kind == Kind::kPointer || type.kind == Kind::kFunction) return "x64";
  if (type.kind == Kind::kChar && type.size == 1) return "char";
  const bool has_size = type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
  if (!type.is_number() || !has_size) return "";
  return fmt::format("{}{}", type.kind == Kind::kSigned ? 's' : 'u', type.size * 8);
}

}  // namespace landtrace::dwarf
