// A place in code, and what has a name there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dwarf/reading/object.hpp"
#include "dwarf/reading/value.hpp"

namespace landtrace::dwarf {

struct CodePlace {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t address = 0;
  bool is_entry = false;   // a function's first instruction
  bool is_return = false;  // what there was at the entry is asked for when the function returns
};

// The part of a function's code that calls enter; a compiler may put what it thinks is rare elsewhere.
struct EntryPart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
// Nothing where the DIE has no code of its own.
std::optional<EntryPart> entry_part_of(Dwarf_Die& function);

class Scope {
 public:
  // ENOENT with a sentence: no unit has the place.
  static Result<Scope> at(const Object& object, std::uint64_t offset, bool is_return);

  [[nodiscard]] const Object& object() const { return *object_; }
  [[nodiscard]] const CodePlace& place() const { return place_; }
  [[nodiscard]] const Unit& unit() const { return unit_; }
  // The function itself, or the one that was inlined there.
  [[nodiscard]] const Dwarf_Die& function() const { return function_; }
  // Never the one around it, also where both begin there.
  [[nodiscard]] Dwarf_Die innermost_function() const;
  // The one whose code it is, whatever was inlined into it.
  [[nodiscard]] const Dwarf_Die& outermost() const { return around_.back(); }

  // A parameter or variable: at an entry the function's, else the innermost one; then those of its source file.
  [[nodiscard]] std::optional<Dwarf_Die> find(std::string_view name) const;
  [[nodiscard]] std::vector<Dwarf_Die> parameters() const;
  // Those of the blocks around the place.
  [[nodiscard]] std::vector<Dwarf_Die> variables() const;

 private:
  Scope() = default;

  const Object* object_ = nullptr;
  CodePlace place_;
  Unit unit_;
  Dwarf_Die function_{};
  std::vector<Dwarf_Die> around_;  // innermost first; without the unit
};

// Where the variable's value is at the place.
OrWhy<Value> value_of(const Scope& scope, Dwarf_Die variable);
// What the function returns.
OrWhy<Value> returned_value(const Scope& scope);

}  // namespace landtrace::dwarf
