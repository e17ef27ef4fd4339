// Types as debugging information has them, and as fetch arguments do.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace landtrace::dwarf {

struct Type {
  enum class Kind : std::uint8_t {
    kVoid,
    kSigned,
    kUnsigned,
    kBool,
    kChar,
    kFloat,  // and complex numbers
    kPointer,
    kReference,
    kStruct,  // union and class, too
    kArray,
    kFunction,
    kOther,  // nothing is known of it
  };
  Kind kind = Kind::kVoid;
  std::uint64_t size = 0;  // 0: unknown
  Dwarf_Die die{};         // without typedefs and qualifiers; not of kVoid

  [[nodiscard]] bool is_number() const { return kind >= Kind::kSigned && kind <= Kind::kChar; }
};

// What the type of a variable, a member or a function's result is, or of what a pointer or array type is made.
Type type_of(Dwarf_Die& die);
// "const char *", "struct request", "int [4]".
std::string type_name(Dwarf_Die& die);

// How many elements an array has; 0: nobody says.
std::uint64_t array_count(Dwarf_Die& array);

// An array that is handed over as one number (__m128).
bool is_vector(const Type& type);

struct Member {
  Dwarf_Die die{};
  std::uint64_t offset = 0;  // in the struct
  // Of a bit field, from the struct's beginning:
  std::uint64_t first_bit = 0;
  unsigned bits = 0;  // 0: it is none
};
// Also in base classes, and in structs without a name within it.
std::optional<Member> find_member(const Type& type, std::string_view name);
// Of the struct itself and its bases, until `look` returns false.
void for_each_member(const Type& type, const std::function<bool(const Member&)>& look);
// "id, route, status, …"
std::string member_names(const Type& type);

// A struct that is handed over by its address whatever its size: it has a destructor, or says so.
bool is_passed_by_address(const Type& type);

// What fetch arguments call it: "s32", "x64"; "" if none of their types fits.
std::string fetch_type(const Type& type);

// It is only mentioned here.
bool is_declaration(Dwarf_Die& die);

const char* name_of(Dwarf_Die& die);  // "" if it has none
std::optional<std::uint64_t> number_of(Dwarf_Die& die, unsigned attribute);

}  // namespace landtrace::dwarf
