#include "dwarf/reading/functions.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <set>

#include "dwarf/reading/lines.hpp"
#include "dwarf/reading/scope.hpp"

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kMostCallsSaid = 3;

int look_at_function(Dwarf_Die* die, void* context) {
  (*static_cast<const std::function<void(Dwarf_Die&)>*>(context))(*die);
  return DWARF_CB_OK;
}

// All that are defined, also within namespaces and types.
void for_each_definition(Unit& unit, const std::function<void(Dwarf_Die&)>& look) {
  dwarf_getfuncs(&unit.die, look_at_function, const_cast<std::function<void(Dwarf_Die&)>*>(&look), 0);
}

// Not dwarf_decl_file(), to which the first file of DWARF 5 is none.
std::string source_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  if (dwarf_attr_integrate(&die, DW_AT_decl_file, &attribute) == nullptr) return "";
  if (dwarf_formudata(&attribute, &index) != 0) return "";
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_cu_die(attribute.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr) return "";
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) return "";
  const char* const file = dwarf_filesrc(files, index, nullptr, nullptr);
  return file == nullptr ? "" : file;
}

DescribedFunction describe(const Object& object, std::uint64_t offset, Dwarf_Die& die) {
  DescribedFunction function;
  function.offset = offset;
  function.file = source_of(die);
  int line = 0;
  if (dwarf_decl_line(&die, &line) == 0 && line > 0) function.line = static_cast<std::uint64_t>(line);
  function.returns = type_name(die);
  const auto scope = Scope::at(object, offset, false);
  if (!scope) return function;
  for (Dwarf_Die& each : std::vector<Dwarf_Die>(scope->parameters())) {
    Parameter parameter{name_of(each), type_name(each), {}};
    auto value = value_of(*scope, each);
    const auto text = value ? fetch_text(*std::move(value), "") : why(value.error());
    if (!text) parameter.why_not = text.error();
    function.parameters.push_back(std::move(parameter));
  }
  return function;
}

// Of a function that was inlined.
struct Copies {
  std::set<std::uint64_t> origins;  // of the functions of that name, as abstract as they are
  std::size_t count = 0;
  std::string calls;  // the first of them
  std::string file;
  int line = 0;
};

void count_copies(Dwarf_Die parent, Copies& copies, int depth) {
  Dwarf_Die child;
  if (depth == kMostNested || dwarf_child(&parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    const bool is_copy =
        tag == DW_TAG_inlined_subroutine && dwarf_attr(&child, DW_AT_abstract_origin, &attribute) != nullptr &&
        dwarf_formref_die(&attribute, &origin) != nullptr && copies.origins.count(dwarf_dieoffset(&origin)) != 0;
    if (is_copy && ++copies.count <= kMostCallsSaid) {
      if (const auto line = number_of(child, DW_AT_call_line)) {
        copies.calls += fmt::format("{}{}", copies.calls.empty() ? "" : ", ", *line);
      }
    }
    const bool may_have_some = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
                               tag == DW_TAG_lexical_block || tag == DW_TAG_namespace;
    if (may_have_some) count_copies(child, copies, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// As a copy that the compiler changed: work.constprop.0, of whose name nothing is said here.
bool has_copy_of_its_own(const Object& object, const std::set<std::uint64_t>& origins) {
  bool has = false;
  object.for_each_unit([&](Unit& unit) {
    if (unit.is_missing) return true;
    for_each_definition(unit, [&](Dwarf_Die& die) {
      Dwarf_Attribute attribute;
      Dwarf_Die origin;
      has = has || (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != nullptr &&
                    dwarf_formref_die(&attribute, &origin) != nullptr && origins.count(dwarf_dieoffset(&origin)) != 0 &&
                    entry_part_of(die));
    });
    return !has;
  });
  return has;
}

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void for_each_function(const Object& object, const std::function<void(const DescribedFunction&)>& look) {
  object.for_each_unit([&](Unit& unit) {
    if (unit.is_missing) return true;
    for_each_definition(unit, [&](Dwarf_Die& die) {
      const auto entry = entry_part_of(die);
      if (!entry) return;
      if (const auto offset = object.offset_of(entry->begin)) look(describe(object, *offset, die));
    });
    return true;
  });
}

std::string why_no_function(const Object& object, std::string_view name) {
  // Names of C++ have their classes in front, which their own definitions do not repeat.
  const std::size_t colon = name.rfind(':');
  const std::string_view own = colon == std::string_view::npos ? name : name.substr(colon + 1);
  Copies copies;
  object.for_each_unit([&](Unit& unit) {
    if (unit.is_missing) return true;
    for_each_definition(unit, [&](Dwarf_Die& die) {
      if (dwarf_func_inline(&die) == 0 || own != name_of(die)) return;
      copies.origins.insert(dwarf_dieoffset(&die));
      if (copies.file.empty() && dwarf_decl_line(&die, &copies.line) == 0) copies.file = source_of(die);
    });
    return true;
  });
  // Of those the symbols know more.
  if (copies.origins.empty() || has_copy_of_its_own(object, copies.origins)) return "";
  object.for_each_unit([&](Unit& unit) {
    if (!unit.is_missing) count_copies(unit.die, copies, 0);
    return true;
  });
  if (copies.count == 0) return fmt::format("'{}' is nowhere called, and is not there", name);
  std::string text = fmt::format("'{}' is inlined at {} place{}", name, copies.count, copies.count == 1 ? "" : "s");
  if (!copies.calls.empty()) {
    text += fmt::format(" (called in line{} {}{})", copies.count == 1 ? "" : "s", copies.calls,
                        copies.count > kMostCallsSaid ? ", …" : "");
  }
  text += " and has no code of its own";
  if (!copies.file.empty()) {
    text += fmt::format("; probe a line of it instead, as in {}:{}:{}", base_of(object.path()), base_of(copies.file),
                        copies.line);
  }
  return text;
}

}  // namespace landtrace::dwarf
