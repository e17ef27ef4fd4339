#include "symbols/function_table.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace landtrace::symbols {
namespace {

// How far a label without a size (assembler) may reach.
constexpr std::uint64_t kSizeless = 4096;

bool is_function(const Elf64_Sym& symbol, std::uint64_t names) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_name != 0 &&
         symbol.st_name < names && symbol.st_value <= ~0ull - symbol.st_size;
}

// In a hostile file many symbols may share one name of megabytes: no more of it is looked at, each time.
constexpr std::size_t kLongestName = 16'384;
constexpr std::size_t kMostUnderscores = 16;

std::string_view name_at(const std::string& names, std::uint32_t offset) {
  const char* const name = names.c_str() + offset;
  return {name, ::strnlen(name, kLongestName)};
}

// Of several names for one function the most public one is taken: `write` before `__write`.
auto rank(const Elf64_Sym& symbol, const std::string& names) {
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned hidden = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  const std::string_view start(names.c_str() + symbol.st_name,
                               std::min(names.size() - symbol.st_name, kMostUnderscores));
  const std::size_t leading = std::min(start.find_first_not_of('_'), start.size());
  return std::tuple(symbol.st_value, symbol.st_size == 0, leading, hidden, symbol.st_name);
}

}  // namespace

FunctionTable::FunctionTable(ElfFile::SymbolSection section) : names_(std::move(section.names)) {
  names_ += '\0';
  auto& symbols = section.symbols;
  std::erase_if(symbols, [&](const Elf64_Sym& symbol) { return !is_function(symbol, names_.size()); });
  std::sort(symbols.begin(), symbols.end(),
            [&](const Elf64_Sym& a, const Elf64_Sym& b) { return rank(a, names_) < rank(b, names_); });
  for (const Elf64_Sym& symbol : symbols) {
    all_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, symbol.st_name, symbol.st_size != 0});
    if (!functions_.empty() && functions_.back().begin == symbol.st_value) continue;
    if (!functions_.empty()) functions_.back().end = std::min(functions_.back().end, symbol.st_value);
    const std::uint64_t size = symbol.st_size != 0 ? symbol.st_size : kSizeless;
    functions_.push_back({symbol.st_value, symbol.st_value + size, symbol.st_name, symbol.st_size != 0});
  }
}

const FunctionTable::Function* FunctionTable::function_at(std::uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](std::uint64_t at, const Function& function) { return at < function.begin; });
  if (after == functions_.begin()) return nullptr;
  const Function& function = *std::prev(after);
  return address < function.end ? &function : nullptr;
}

std::optional<FunctionTable::Found> FunctionTable::find(std::uint64_t address) const {
  const Function* const function = function_at(address);
  if (function == nullptr) return std::nullopt;
  return Found{name_at(names_, function->name), address - function->begin, function->has_size};
}

std::optional<AddressRange> FunctionTable::holding(std::uint64_t address) const {
  const Function* const function = function_at(address);
  if (function == nullptr) return std::nullopt;
  return AddressRange{function->begin, function->end};
}

std::vector<AddressRange> FunctionTable::named(const std::function<bool(std::string_view)>& fits) const {
  std::vector<AddressRange> found;
  for (const Function& function : all_) {
    if (fits(name_at(names_, function.name)))
      found.push_back({function.begin, std::max(function.end, function.begin + 1)});
  }
  return found;
}

}  // namespace landtrace::symbols
