#include "dwarf/reading/abi.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "dwarf/reading/registers.hpp"

namespace landtrace::dwarf {
namespace {

using Kind = Type::Kind;

constexpr std::array<const char*, 16> kNames{"ax", "dx", "cx",  "bx",  "si",  "di",  "bp",  "sp",
                                             "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::uint64_t kRegisterSize = 8, kLargestInRegisters = 16;
constexpr unsigned kVectorRegisters = 8;
constexpr unsigned kReturnRegister = 0, kSecondReturnRegister = 1;
constexpr const char* kUnknown =
    "is handed over in a way that is not known here; put the probe at a line behind, as in FILE:LINE";

enum class Class : std::uint8_t { kNothing, kInteger, kVector };
// Of each word; empty: in memory.
using Words = std::vector<Class>;

bool is_rust(const Scope& scope) {
  Dwarf_Die unit = scope.unit().die;
  constexpr int kRust = 0x1c;  // DW_LANG_Rust
  return dwarf_srclang(&unit) == kRust;
}

void merge(Words& words, std::uint64_t offset, std::uint64_t size, Class what) {
  for (std::uint64_t word = offset / kRegisterSize; word < words.size() && word * kRegisterSize < offset + size;
       ++word) {
    words[word] = words[word] == Class::kInteger ? Class::kInteger : what;
  }
}

// False: it goes into memory.
bool classify(const Type& type, std::uint64_t offset, Words& words, int depth) {
  if (depth == kMostNested) return false;
  switch (type.kind) {
    case Kind::kFloat: {
      // long double, and what is as large.
      const bool is_complex = number_of(const_cast<Dwarf_Die&>(type.die), DW_AT_encoding) == DW_ATE_complex_float;
      if (type.size > kRegisterSize && !is_complex) return false;
      merge(words, offset, type.size, Class::kVector);
      return true;
    }
    case Kind::kStruct: {
      bool fits = true;
      for_each_member(type, [&](const Member& member) {
        Dwarf_Die die = member.die;
        Type own = type_of(die);
        if (member.bits != 0) {
          merge(words, offset + member.first_bit / 8, (member.bits + 7) / 8, Class::kInteger);
        } else {
          fits = classify(own, offset + member.offset, words, depth + 1);
        }
        return fits;
      });
      return fits;
    }
    case Kind::kArray: {
      const Type element = type_of(const_cast<Dwarf_Die&>(type.die));
      if (element.size == 0) return false;
      for (std::uint64_t at = 0; at < type.size; at += element.size) {
        if (offset + at >= kLargestInRegisters || !classify(element, offset + at, words, depth + 1)) return false;
      }
      return true;
    }
    default:
      merge(words, offset, std::max<std::uint64_t>(type.size, 1), Class::kInteger);
      return type.kind != Kind::kOther;
  }
}

Words words_of(const Type& type) {
  if (type.size > kLargestInRegisters) return {};
  Words words((std::max<std::uint64_t>(type.size, 1) + kRegisterSize - 1) / kRegisterSize, Class::kNothing);
  if (!classify(type, 0, words, 0)) return {};
  return words;
}

bool is_in_memory(const Type& type) { return type.kind == Kind::kStruct && words_of(type).empty(); }

bool is_incomplete(Type type) { return type.kind == Kind::kStruct && is_declaration(type.die); }

// Its own location says that it is a pointer to it that is handed over.
bool has_indirect_location(Dwarf_Die& parameter) {
  Dwarf_Attribute attribute;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_attr_integrate(&parameter, DW_AT_location, &attribute) == nullptr) return false;
  if (dwarf_getlocation(&attribute, &ops, &count) != 0 || count < 2) return false;
  return ops[count - 1].atom == DW_OP_deref;
}

bool has_vector(const Type& type, int depth = 0) {
  if (depth == kMostNested || is_vector(type)) return true;
  bool found = false;
  if (type.kind == Kind::kArray) return has_vector(type_of(const_cast<Dwarf_Die&>(type.die)), depth + 1);
  if (type.kind != Kind::kStruct) return false;
  for_each_member(type, [&](const Member& member) {
    Dwarf_Die die = member.die;
    found = has_vector(type_of(die), depth + 1);
    return !found;
  });
  return found;
}

// Takes registers and stack words in the order of the parameters.
class Convention {
 public:
  explicit Convention(const Scope& scope) : scope_(scope), is_rust_(is_rust(scope)) {
    Dwarf_Die function = scope.function();
    const Type result = type_of(function);
    is_unknown_ = is_incomplete(result) || (result.size > kLargestInRegisters && has_vector(result));
    const bool has_hidden = result.kind == Kind::kStruct && (is_passed_by_address(result) || is_in_memory(result));
    if (has_hidden) ++integers_;
  }

  OrWhy<Value> take(Dwarf_Die parameter) {
    const Type type = type_of(parameter);
    if (is_unknown_ || type.kind == Kind::kVoid || type.kind == Kind::kOther || is_incomplete(type)) {
      is_unknown_ = true;
      return why(kUnknown);
    }
    const bool is_large_in_rust = is_rust_ && type.size > kLargestInRegisters;
    if (is_passed_by_address(type) || has_indirect_location(parameter) || is_large_in_rust) return by_address(type);
    if (is_vector(type) && type.size <= kLargestInRegisters) return vector(type);
    // In one register or in memory, as the compiler was told what the machine has.
    if (has_vector(type)) {
      is_unknown_ = true;
      return why(kUnknown);
    }
    const Words words = words_of(type);
    // What Rust does with these is its own affair.
    if (is_rust_ && type.kind == Kind::kStruct && type.size > kRegisterSize && !is_pair(type)) {
      is_unknown_ = true;
      return why(kUnknown);
    }
    if (words.empty() || !has_room(words)) return on_stack(type);
    return type.kind == Kind::kStruct || words.size() > 1 ? in_pieces(type, words) : in_one(type, words[0]);
  }

 private:
  static bool is_pair(const Type& type) {
    unsigned words = 0, others = 0;
    for_each_member(type, [&](const Member& member) {
      Dwarf_Die die = member.die;
      ++(type_of(die).size == kRegisterSize ? words : others);
      return true;
    });
    return words == 2 && others == 0;
  }
  [[nodiscard]] bool has_room(const Words& words) const {
    const auto integers = std::count(words.begin(), words.end(), Class::kInteger);
    const auto vectors = std::count(words.begin(), words.end(), Class::kVector);
    return integers_ + integers <= kArgumentRegisters.size() && vectors_ + vectors <= kVectorRegisters;
  }
  OrWhy<std::string> next_integer() { return register_text(kArgumentRegisters[integers_++], scope_.place()); }

  OrWhy<Value> by_address(const Type& type) {
    if (integers_ == kArgumentRegisters.size()) {
      const auto text = stack_word_text(stack_++, scope_.place());
      return text ? OrWhy<Value>(in_memory(*text, 0, type)) : why(text.error());
    }
    const auto text = next_integer();
    return text ? OrWhy<Value>(in_memory(*text, 0, type)) : why(text.error());
  }
  OrWhy<Value> vector(const Type& type) {
    if (vectors_ == kVectorRegisters) return on_stack(type);
    ++vectors_;
    return in_register("", type);
  }
  OrWhy<Value> in_one(const Type& type, Class what) {
    if (what == Class::kVector) {
      ++vectors_;
      return in_register("", type);
    }
    if (what == Class::kNothing) return why("takes no room");
    const auto text = next_integer();
    return text ? OrWhy<Value>(in_register(*text, type)) : why(text.error());
  }
  OrWhy<Value> in_pieces(const Type& type, const Words& words) {
    Value value;
    value.kind = Value::Kind::kPieces;
    value.type = type;
    for (std::size_t i = 0; i < words.size(); ++i) {
      Value::Piece piece{i * kRegisterSize, kRegisterSize, {}};
      if (words[i] == Class::kVector) ++vectors_;
      if (words[i] == Class::kInteger) {
        const auto text = next_integer();
        if (text) piece.base = *text;
      }
      value.pieces.push_back(std::move(piece));
    }
    return value;
  }
  OrWhy<Value> on_stack(const Type& type) {
    if ((type.kind == Kind::kFloat || is_vector(type)) && type.size == 2 * kRegisterSize && stack_ % 2 != 0) ++stack_;
    const std::uint64_t at = stack_;
    stack_ += (std::max<std::uint64_t>(type.size, 1) + kRegisterSize - 1) / kRegisterSize;
    if (scope_.place().is_return) return why("is handed over on the stack, where it may have changed at the return");
    return in_memory("%sp", static_cast<std::int64_t>((at + 1) * kRegisterSize), type);
  }

  const Scope& scope_;
  bool is_rust_;
  bool is_unknown_ = false;
  std::size_t integers_ = 0;
  std::size_t vectors_ = 0;
  std::uint64_t stack_ = 0;  // words above the return address
};

}  // namespace

OrWhy<std::string> register_text(unsigned number, const CodePlace& place) {
  if (number >= kNames.size()) return why("is in a vector register, which probes do not read");
  if (!place.is_return) return fmt::format("%{}", kNames[number]);
  const auto found = std::find(kArgumentRegisters.begin(), kArgumentRegisters.end(), number);
  if (found == kArgumentRegisters.end()) return why("is not kept until the function returns");
  return fmt::format("$arg{}", found - kArgumentRegisters.begin() + 1);
}

OrWhy<std::string> stack_word_text(std::uint64_t index, const CodePlace& place) {
  if (place.is_return) return why("is handed over on the stack, where it may have changed at the return");
  return fmt::format("+{}(%sp)", (index + 1) * kRegisterSize);
}

OrWhy<Value> argument_at_entry(const Scope& scope, Dwarf_Die parameter) {
  Convention convention(scope);
  for (const Dwarf_Die& each : scope.parameters()) {
    auto value = convention.take(each);
    if (each.addr == parameter.addr) return value;
  }
  return why(kUnknown);
}

OrWhy<Value> returned_value(const Scope& scope) {
  Dwarf_Die function = scope.function();
  const Type type = type_of(function);
  if (type.kind == Kind::kVoid) return why("is nothing: the function returns void");
  if (type.kind == Kind::kStruct && (is_passed_by_address(type) || is_in_memory(type))) {
    return in_memory("$retval", 0, type);
  }
  if (type.kind == Kind::kFloat || is_vector(type)) return in_register("", type);
  if (has_vector(type)) return why("is a struct with a vector, and may be in a vector register");
  if (type.kind != Kind::kStruct) return in_register("$retval", type);
  Value value;
  value.kind = Value::Kind::kPieces;
  value.type = type;
  std::uint64_t begin = 0;
  unsigned next = kReturnRegister;
  for (const Class what : words_of(type)) {
    Value::Piece piece{begin, kRegisterSize, {}};
    if (what == Class::kInteger) {
      piece.base = next == kReturnRegister ? "$retval" : fmt::format("%{}", kNames[kSecondReturnRegister]);
      ++next;
    }
    value.pieces.push_back(std::move(piece));
    begin += kRegisterSize;
  }
  return value;
}

}  // namespace landtrace::dwarf
