#include "symbols/symbols.hpp"

#include "symbols/cxx/printer.hpp"
#include "symbols/cxx/reader.hpp"
#include "symbols/debug_file.hpp"

namespace landtrace::symbols {

std::string demangle(std::string_view name) {
  constexpr std::size_t kLongestText = 32'768;
  // The version of a library's symbol follows an @.
  const std::string_view mangled = name.substr(0, name.find('@'));
  cxx::Tree tree;
  const cxx::Node* const whole = cxx::read(mangled, tree);
  std::optional<std::string> text;
  if (whole != nullptr) text = cxx::print(*whole, kLongestText);
  return text ? *std::move(text) : std::string(mangled);
}

std::optional<Function> Symbols::find(const std::string& path, const std::string& build_id, std::uint64_t address,
                                      bool is_first) {
  const FunctionTable& table = table_of(path, build_id);
  // A call may be the last instruction of its function; its return address is then in the next function.
  const auto before = table.find(address - 1);
  const auto here = table.find(address);
  const bool begins_here = here && here->offset == 0;
  const bool take_here =
      (is_first && begins_here) || (here && !(before && before->is_certain) && (here->is_certain || begins_here));
  if (take_here) return Function{demangle(here->name), here->offset};
  if (before) return Function{demangle(before->name), before->offset + 1};
  return std::nullopt;
}

std::vector<AddressRange> Symbols::named(const std::string& path, const std::string& build_id, std::string_view name) {
  return table_of(path, build_id).named([&](std::string_view linked) {
    if (linked.substr(0, linked.find('@')) == name) return true;
    // Demangling is slow: it is tried only for linker names that contain the name's letters.
    if (!linked.starts_with("_Z") || linked.find(name.substr(name.rfind(':') + 1)) == std::string_view::npos)
      return false;
    const std::string whole = demangle(linked);
    return std::string_view(whole).substr(0, whole.find('(')) == name;
  });
}

const FunctionTable& Symbols::table_of(const std::string& path, const std::string& build_id) {
  // An object that many processes have mapped is kept once, whatever path each of them knows.
  const std::pair by_id(std::string(), build_id), by_path(path, build_id);
  for (const auto& key : {by_id, by_path}) {
    const auto known = tables_.find(key);
    if (known != tables_.end()) return known->second;
  }
  if (tables_.size() >= kMaxObjects) tables_.clear();
  FunctionTable table = load(path, build_id);
  const bool is_known_by_id = !build_id.empty() && !table.empty();
  return tables_.emplace(is_known_by_id ? by_id : by_path, std::move(table)).first->second;
}

FunctionTable Symbols::load(const std::string& path, const std::string& build_id) const {
  const auto file = path.starts_with('/') ? ElfFile::open(path) : fail(ENOENT, path);
  const bool is_same = file && file->build_id() == build_id;
  if (is_same) {
    if (FunctionTable table(file->symbols(SHT_SYMTAB)); !table.empty()) return table;
  }
  const auto debug = is_same ? find_debug_file(*file, path, debug_folder_) : open_debug_file(debug_folder_, build_id);
  if (debug) {
    if (FunctionTable table(debug->symbols(SHT_SYMTAB)); !table.empty()) return table;
  }
  return is_same ? FunctionTable(file->symbols(SHT_DYNSYM)) : FunctionTable();
}

}  // namespace landtrace::symbols
