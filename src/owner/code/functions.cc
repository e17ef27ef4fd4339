#include "code/functions.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace landtrace::code {
namespace {

constexpr std::size_t kLongestFunctionName = 16'384;

struct Named {
  std::uint64_t begin;
  std::uint64_t size;
  std::string_view name;
  unsigned rank;
  bool is_chooser;
  bool is_label;  // without a type: a function only if a frame begins there
};

// The linker's own code, which calls the functions of other objects.
std::vector<symbols::AddressRange> linkage_tables(const symbols::ElfFile& file) {
  std::vector<symbols::AddressRange> found;
  const std::vector<std::string> names = file.section_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Elf64_Shdr& section = file.sections()[i];
    const bool is_table = names[i] == ".plt" || names[i].starts_with(".plt.") || names[i] == ".iplt";
    if (found.size() == 16) break;
    if (is_table && section.sh_size <= ~0ull - section.sh_addr)
      found.push_back({section.sh_addr, section.sh_addr + section.sh_size});
  }
  return found;
}

bool is_in(const std::vector<symbols::AddressRange>& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const symbols::AddressRange& range) { return range.begin <= address && address < range.end; });
}

// Of several names for one function the most public one comes first: `write` before `__write`.
unsigned rank_of(const Elf64_Sym& symbol, std::string_view name) {
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned hidden = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  const std::size_t underscores = std::min<std::size_t>(name.find_first_not_of('_'), 15);
  return static_cast<unsigned>(underscores) * 4 + hidden;
}

std::optional<Named> named_by(const Elf64_Sym& symbol, std::string_view names) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  const bool can_be = (is_function || type == STT_NOTYPE) && symbol.st_shndx != SHN_UNDEF && symbol.st_name != 0 &&
                      symbol.st_name < names.size() && symbol.st_value <= ~0ull - symbol.st_size;
  if (!can_be) return std::nullopt;
  const std::string_view rest = names.substr(symbol.st_name, kLongestFunctionName);
  const std::string_view name = rest.substr(0, rest.find('\0'));
  if (name.empty()) return std::nullopt;
  return Named{symbol.st_value, symbol.st_size, name, rank_of(symbol, name), type == STT_GNU_IFUNC, !is_function};
}

bool is_part_name(std::string_view name) { return name.ends_with(".cold") || name.find(".cold.") != name.npos; }

}  // namespace

Functions::Functions(const symbols::ElfFile& file, const symbols::ElfFile* debug, const Image& image,
                     std::span<const Frame> frames) {
  const std::vector<symbols::AddressRange> tables = linkage_tables(file);
  const auto is_code = [&](std::uint64_t at) { return image.is_code(at) && !is_in(tables, at); };
  std::vector<Named> named;
  const auto take_symbols = [&](symbols::ElfFile::SymbolSection section) {
    const std::string& text = texts_.emplace_back(std::move(section.names));
    for (const Elf64_Sym& symbol : section.symbols) {
      if (const auto one = named_by(symbol, text); one && is_code(one->begin)) named.push_back(*one);
    }
  };
  take_symbols(file.symbols(SHT_DYNSYM));
  take_symbols(file.symbols(SHT_SYMTAB));
  if (debug != nullptr) take_symbols(debug->symbols(SHT_SYMTAB));
  std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return std::tuple(a.begin, a.rank, a.name) < std::tuple(b.begin, b.rank, b.name);
  });

  // Both lists are ascending: at each beginning, a function of what either says.
  std::size_t n = 0;
  for (std::size_t f = 0; n < named.size() || f < frames.size();) {
    const auto frame_begin = [&] { return frames[f].begin + (frames[f].is_signal ? 1 : 0); };
    const std::uint64_t begin = n == named.size()    ? frame_begin()
                                : f == frames.size() ? named[n].begin
                                                     : std::min(frame_begin(), named[n].begin);
    Function function{.begin = begin, .end = begin, .first_name = static_cast<std::uint32_t>(names_.size())};
    for (; f < frames.size() && frame_begin() == begin; ++f) {
      function.has_frame = true;
      function.end = std::max(function.end, frames[f].end);
      function.is_signal = function.is_signal || frames[f].is_signal;
      function.has_no_return_address = function.has_no_return_address || frames[f].has_no_return_address;
    }
    bool is_function = function.has_frame && is_code(begin);
    for (; n < named.size() && named[n].begin == begin; ++n) {
      if (named[n].is_label && !function.has_frame) continue;
      is_function = true;
      function.end = std::max(function.end, begin + named[n].size);
      function.is_chooser = function.is_chooser || named[n].is_chooser;
      function.is_part = function.is_part || is_part_name(named[n].name);
      if (function.names == 0 || names_.back() != named[n].name) {
        names_.push_back(named[n].name);
        ++function.names;
      }
    }
    if (is_function) all_.push_back(function);
  }
  // A label of assembler has no size: it reaches to the next function.
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Segment* const segment = image.segment_at(all_[i].begin);
    const std::uint64_t next = i + 1 < all_.size() ? all_[i + 1].begin : ~0ull;
    if (all_[i].end == all_[i].begin) all_[i].end = next;
    all_[i].end = std::min(all_[i].end, segment->end);
  }
}

const Function* Functions::holding(std::uint64_t address) const {
  auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                [](std::uint64_t at, const Function& function) { return at < function.begin; });
  // One may lie within another, as the entries of assembler do; not many.
  for (int looked = 0; after != all_.begin() && looked < 16; ++looked) {
    --after;
    if (address < after->end) return &*after;
  }
  return nullptr;
}

std::uint64_t Functions::next_begin(std::uint64_t address) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                      [](std::uint64_t at, const Function& function) { return at < function.begin; });
  return after == all_.end() ? ~0ull : after->begin;
}

}  // namespace landtrace::code
