#include "dwarf/reading/scope.hpp"

#include <dwarf.h>
#include <fmt/format.h>

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kMostParameters = 256;

bool is_function(Dwarf_Die& die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

template <typename Wanted>
void add_children(Dwarf_Die parent, const Wanted& wanted, std::vector<Dwarf_Die>& found) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    if (wanted(child)) found.push_back(child);
  } while (found.size() < kMostParameters && dwarf_siblingof(&child, &child) == 0);
}

std::optional<Dwarf_Die> named_child(Dwarf_Die parent, std::string_view name) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return std::nullopt;
  do {
    const int tag = dwarf_tag(&child);
    const bool is_one = tag == DW_TAG_formal_parameter || tag == DW_TAG_variable;
    if (is_one && name == name_of(child)) return child;
  } while (dwarf_siblingof(&child, &child) == 0);
  return std::nullopt;
}

// Blocks and functions that have the address, innermost first. libdw's dwarf_getscopes() leaves out what an inlined
// function was inlined into.
bool add_scopes(Dwarf_Die parent, std::uint64_t address, std::vector<Dwarf_Die>& found, int depth) {
  Dwarf_Die child;
  if (depth == kMostNested || dwarf_child(&parent, &child) != 0) return false;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
        if (add_scopes(child, address, found, depth + 1)) return true;
        break;
      case DW_TAG_subprogram:
      case DW_TAG_inlined_subroutine:
      case DW_TAG_lexical_block:
        if (dwarf_haspc(&child, address) != 1) break;
        add_scopes(child, address, found, depth + 1);
        found.push_back(child);
        return true;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

// Without DW_AT_entry_pc, which compilers leave out of functions in parts, it is the first part.
std::optional<EntryPart> entry_part_of(Dwarf_Die& function) {
  Dwarf_Addr base = 0, begin = 0, end = 0, entry = 0;
  const bool has_entry = dwarf_entrypc(&function, &entry) == 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&function, at, &base, &begin, &end)) > 0;) {
    if (!has_entry || (entry >= begin && entry < end)) return EntryPart{has_entry ? entry : begin, end};
  }
  return std::nullopt;
}

Result<Scope> Scope::at(const Object& object, std::uint64_t offset, bool is_return) {
  Scope scope;
  scope.object_ = &object;
  const auto address = object.address_of(offset);
  if (!address) return fail(ENOENT, "there is no code");
  const auto unit = object.unit_at(*address);
  if (!unit) return fail(ENOENT, fmt::format("{} has debugging information, but not of this place", object.path()));
  if (unit->is_missing) {
    Dwarf_Die die = unit->die;
    Dwarf_Attribute name;
    const char* file = nullptr;
    for (const unsigned attribute : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
      if (dwarf_attr(&die, attribute, &name) != nullptr) file = dwarf_formstring(&name);
    }
    return fail(ENOENT, fmt::format("its debugging information is in a file that is not there: {}",
                                    file == nullptr ? "a .dwo of -gsplit-dwarf" : file));
  }
  scope.unit_ = *unit;
  add_scopes(scope.unit_.die, *address, scope.around_, 0);
  bool has_function = false;
  for (Dwarf_Die& die : scope.around_) {
    const auto entry = dwarf_tag(&die) == DW_TAG_subprogram ? entry_part_of(die) : std::nullopt;
    const bool begins_here = entry && entry->begin == *address;
    // At its entry, not what was inlined there.
    if (begins_here || (is_function(die) && !has_function)) scope.function_ = die;
    has_function = has_function || is_function(die);
    scope.place_.is_entry = scope.place_.is_entry || begins_here;
  }
  if (!has_function) {
    return fail(ENOENT, fmt::format("{} has debugging information, but not of this function", object.path()));
  }
  scope.place_.offset = offset;
  scope.place_.address = *address;
  scope.place_.is_return = is_return;
  return scope;
}

Dwarf_Die Scope::innermost_function() const {
  for (Dwarf_Die die : around_) {
    if (is_function(die)) return die;
  }
  return function_;
}

std::optional<Dwarf_Die> Scope::find(std::string_view name) const {
  if (place_.is_entry) {
    if (auto found = named_child(function_, name)) return found;
  }
  for (const Dwarf_Die& scope : around_) {
    if (auto found = named_child(scope, name)) return found;
  }
  auto found = named_child(unit_.die, name);
  if (!found || !is_declaration(*found)) return found;
  return std::nullopt;
}

std::vector<Dwarf_Die> Scope::parameters() const {
  std::vector<Dwarf_Die> found;
  add_children(
      function_, [](Dwarf_Die& die) { return dwarf_tag(&die) == DW_TAG_formal_parameter; }, found);
  return found;
}

std::vector<Dwarf_Die> Scope::variables() const {
  std::vector<Dwarf_Die> found;
  for (const Dwarf_Die& scope : around_) {
    add_children(
        scope, [](Dwarf_Die& die) { return dwarf_tag(&die) == DW_TAG_variable; }, found);
    Dwarf_Die die = scope;
    if (is_function(die)) break;
  }
  return found;
}

}  // namespace landtrace::dwarf
