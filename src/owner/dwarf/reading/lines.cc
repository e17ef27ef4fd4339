#include "dwarf/reading/lines.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/character.hpp"
#include "dwarf/reading/scope.hpp"

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kMostPlaces = 64;
constexpr std::size_t kMostNamesSaid = 8;

// "net/main.c" is the end of "/home/u/src/net/main.c", "ain.c" is not.
bool is_end_of_path(std::string_view path, std::string_view end) {
  while (end.starts_with("./")) end.remove_prefix(2);
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || end.starts_with('/') || path[path.size() - end.size() - 1] == '/';
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool has_file(Dwarf_Die& unit, std::string_view file, std::set<std::string>& others) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0) return false;
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const path = dwarf_filesrc(files, i, nullptr, nullptr);
    if (path == nullptr) continue;
    found = found || is_end_of_path(path, file);
    const std::string_view name = base_name(path);
    if (others.size() < 4096 && !name.ends_with(".h") && name.find('.') != name.npos) others.insert(std::string(name));
  }
  return found;
}

struct Statement {
  std::uint64_t address;
  int line;
};

// Those of the file in the unit.
template <typename Look>
void for_each_statement(Dwarf_Die& unit, std::string_view file, const Look& look) {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0) return;
  std::map<const char*, bool> is_wanted;  // by the text that libdw keeps of each path
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* const each = dwarf_onesrcline(lines, i);
    bool begins = false, ends = false;
    int line = 0;
    Dwarf_Addr address = 0;
    if (each == nullptr || dwarf_linebeginstatement(each, &begins) != 0 || !begins) continue;
    if (dwarf_lineendsequence(each, &ends) != 0 || ends) continue;
    if (dwarf_lineno(each, &line) != 0 || line <= 0 || dwarf_lineaddr(each, &address) != 0) continue;
    const char* const path = dwarf_linesrc(each, nullptr, nullptr);
    if (path == nullptr) continue;
    const auto known = is_wanted.try_emplace(path, false);
    if (known.second) known.first->second = is_end_of_path(path, file);
    if (known.first->second) look(Statement{address, line});
  }
}

// The units that have the file. Lines stand in the unit of the object, also where the rest is split off.
template <typename Look>
bool for_each_unit_with(const Object& object, std::string_view file, std::set<std::string>& others, const Look& look) {
  bool found = false;
  object.for_each_unit([&](Unit& unit) {
    if (!has_file(unit.lines, file, others)) return true;
    found = true;
    look(unit.lines);
    return true;
  });
  return found;
}

std::string no_file_text(const Object& object, std::string_view file, const std::set<std::string>& others) {
  std::string text = fmt::format("no source file '{}' in the debugging information of {}", file, object.path());
  std::size_t count = 0;
  for (const std::string& other : others) {
    if (++count > kMostNamesSaid) return text + ", …";
    text += fmt::format("{}{}", count == 1 ? "; it has " : ", ", other);
  }
  return text;
}

std::string no_line_text(std::string_view file, int line, int before, int after) {
  std::string text = fmt::format("no code of line {} of {}", line, file);
  if (before != 0 || after != 0) text += "; the nearest lines that have some: ";
  if (before != 0) text += fmt::format("{}", before);
  if (after != 0) text += fmt::format("{}{}", before != 0 ? " and " : "", after);
  return text;
}

struct Code {
  // What it is a copy of: a function, or a function that was inlined there. 0: nobody knows.
  std::uint64_t owner = 0;
  // It stands apart from the rest of its function, as it is thought to be rare.
  bool is_apart = false;
};

Code code_at(const Object& object, std::uint64_t offset) {
  const auto scope = Scope::at(object, offset, false);
  if (!scope) return {};
  Dwarf_Die function = scope->innermost_function(), outermost = scope->outermost();
  const auto entry = entry_part_of(outermost);
  const std::uint64_t address = scope->place().address;
  return {dwarf_dieoffset(&function), entry && (address < entry->begin || address >= entry->end)};
}

}  // namespace

Result<LinePlaces> find_line(const Object& object, std::string_view file, int line) {
  std::set<std::string> others;
  std::set<std::uint64_t> addresses;
  int before = 0, after = 0;
  const bool has_any = for_each_unit_with(object, file, others, [&](Dwarf_Die& unit) {
    for_each_statement(unit, file, [&](const Statement& statement) {
      if (!object.offset_of(statement.address)) return;  // of a function that the linker has thrown away
      if (statement.line == line) {
        addresses.insert(statement.address);
      } else if (statement.line < line) {
        before = std::max(before, statement.line);
      } else {
        after = after == 0 ? statement.line : std::min(after, statement.line);
      }
    });
  });
  if (!has_any) return fail(ENOENT, no_file_text(object, file, others));
  if (addresses.empty()) return fail(ENOENT, no_line_text(file, line, before, after));
  // Of each copy the first instruction, but of what stands apart only where all of the line does.
  std::map<std::uint64_t, std::uint64_t> first, first_apart;  // by owner
  LinePlaces places;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t offset = *object.offset_of(address);
    const Code code = addresses.size() == 1 ? Code{} : code_at(object, offset);
    if (code.owner == 0) {
      places.offsets.push_back(offset);
    } else {
      (code.is_apart ? first_apart : first).try_emplace(code.owner, offset);
    }
  }
  first.merge(first_apart);
  for (const auto& [owner, offset] : first) places.offsets.push_back(offset);
  std::sort(places.offsets.begin(), places.offsets.end());
  if (places.offsets.size() > kMostPlaces) places.offsets.resize(kMostPlaces);
  return places;
}

}  // namespace landtrace::dwarf
