#include "code/functions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "symbols/short_name.hpp"

namespace landtrace::code {
namespace {

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
// A hostile file may have many symbols in one endless row of underscores: no more of it is looked at, each time.
unsigned rank_of(const Named& named) {
  constexpr std::size_t kMostUnderscores = 15;
  const std::string_view start = named.name.substr(0, kMostUnderscores);
  const std::size_t underscores = std::min(start.find_first_not_of('_'), start.size());
  return static_cast<unsigned>(underscores) * 8 + (named.is_hidden ? 4u : 0u) + named.binding;
}

std::optional<Named> named_by(const Elf64_Sym& symbol, std::string_view names) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  const bool can_be = (is_function || type == STT_NOTYPE) && symbol.st_shndx != SHN_UNDEF && symbol.st_name != 0 &&
                      symbol.st_name < names.size() && symbol.st_value <= ~0ull - symbol.st_size;
  if (!can_be) return std::nullopt;
  const std::string_view rest = names.substr(symbol.st_name, kLongestFunctionName);
  const symbols::VersionedName name = symbols::split_version(rest.substr(0, rest.find('\0')));
  if (name.name.empty()) return std::nullopt;
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const std::uint8_t hidden = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  return Named{symbol.st_value, symbol.st_size,        name.name,   name.version, name.is_hidden,
               hidden,          type == STT_GNU_IFUNC, !is_function};
}

bool is_part_name(std::string_view name) { return name.ends_with(".cold") || name.find(".cold.") != name.npos; }

}  // namespace

Functions::Functions(const symbols::ElfFile& file, const symbols::ElfFile* debug, const Image& image,
                     std::span<const Frame> frames) {
  const std::vector<symbols::AddressRange> tables = linkage_tables(file);
  const auto is_code = [&](std::uint64_t at) { return image.is_code(at) && !is_in(tables, at); };
  std::vector<Named> named;
  const auto take_symbols = [&](symbols::ElfFile::SymbolSection section, const symbols::SymbolVersions& versions) {
    const std::string& text = texts_.emplace_back(std::move(section.names));
    for (std::size_t i = 0; i < section.symbols.size(); ++i) {
      auto one = named_by(section.symbols[i], text);
      if (!one || !is_code(one->begin)) continue;
      if (const auto version = versions.of(i); one->version.empty() && !version.name.empty()) {
        one->version = version.name;
        one->is_hidden = version.is_hidden;
      }
      named.push_back(*one);
    }
  };
  versions_.emplace_back(file);
  take_symbols(file.symbols(SHT_DYNSYM), versions_.front());
  take_symbols(file.symbols(SHT_SYMTAB), {});
  if (debug != nullptr) take_symbols(debug->symbols(SHT_SYMTAB), {});
  std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return std::tuple(a.begin, rank_of(a), a.name, a.version) < std::tuple(b.begin, rank_of(b), b.name, b.version);
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
      take_name(static_cast<std::uint32_t>(all_.size()), named[n]);
    }
    function.names = static_cast<std::uint32_t>(names_.size()) - function.first_name;
    if (is_function) all_.push_back(function);
  }
  // A label of assembler has no size: it reaches to the next function.
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Segment* const segment = image.segment_at(all_[i].begin);
    const std::uint64_t next = i + 1 < all_.size() ? all_[i + 1].begin : ~0ull;
    if (all_[i].end == all_[i].begin) all_[i].end = next;
    all_[i].end = std::min(all_[i].end, segment->end);
  }
  std::erase_if(index_, [&](const Entry& entry) { return all_[entry.function].is_part; });
  std::sort(index_.begin(), index_.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.name, a.rank, a.function) < std::tuple(b.name, b.rank, b.function);
  });
}

void Functions::take_name(std::uint32_t function, const Named& named) {
  constexpr std::size_t kLookedBack = 16;  // most have no more names
  const Entry entry{named.name, named.version, named.is_hidden,
                    static_cast<std::uint8_t>((named.is_hidden ? 4 : 0) + named.binding), function};
  for (std::size_t i = 0; i < std::min(index_.size(), kLookedBack); ++i) {
    Entry& known = index_[index_.size() - 1 - i];
    if (known.function != function) break;
    if (known.name != entry.name || known.is_hidden != entry.is_hidden) continue;
    if (known.version.empty()) known.version = entry.version;
    if (entry.version.empty() || known.version == entry.version) return;
  }
  index_.push_back(entry);
  names_.push_back(named.is_hidden ? std::string_view(texts_.emplace_back(std::string(named.name) + "@" +
                                                                          std::string(named.version)))
                                   : named.name);
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

std::span<const Functions::Entry> Functions::called(std::string_view name) const {
  const auto begin = std::lower_bound(index_.begin(), index_.end(), name,
                                      [](const Entry& entry, std::string_view text) { return entry.name < text; });
  auto end = begin;
  while (end != index_.end() && end->name == name) ++end;
  return {begin, end};
}

Result<const Function*> Functions::find(std::string_view name) const {
  const symbols::VersionedName wanted = symbols::split_version(name);
  const std::span<const Entry> known = called(wanted.name);
  for (const Entry& entry : known) {
    if (wanted.version.empty() ? !entry.is_hidden : entry.version == wanted.version) return &all_[entry.function];
  }
  if (known.empty()) {
    if (!wanted.version.empty()) return fail(ENOENT);
    return find_cpp(name);
  }
  // No version is the default one, but there is no other function of that name either.
  const auto is_another = [&](const Entry& entry) { return entry.function != known.front().function; };
  if (wanted.version.empty() && std::none_of(known.begin(), known.end(), is_another))
    return &all_[known.front().function];
  return fail(EINVAL, versions_text(wanted));
}

// What other versions there are of a name, for a person.
std::string Functions::versions_text(const symbols::VersionedName& wanted) const {
  constexpr std::size_t kMostShown = 8;
  std::vector<std::string> shown;
  for (const Entry& entry : called(wanted.name)) {
    if (entry.version.empty()) continue;
    std::string text = std::string(entry.version) + (entry.is_hidden ? "" : " (the default)");
    if (std::find(shown.begin(), shown.end(), text) == shown.end() && shown.size() < kMostShown)
      shown.push_back(std::move(text));
  }
  std::string all;
  for (const std::string& one : shown) all += (all.empty() ? "" : ", ") + one;
  const std::string bare(wanted.name);
  if (shown.empty()) return bare + " has no versions";
  if (wanted.version.empty()) return bare + " has no default version, but " + all + "; add @ and one of them";
  return bare + " has no version " + std::string(wanted.version) + ", but " + all;
}

// Compilers make several of one constructor or destructor; the one that deletes, too, is the last to be meant.
Result<const Function*> Functions::find_cpp(std::string_view name) const {
  constexpr std::size_t kMostShown = 8;
  // Demangling is slow: it is tried only for linker names that contain the name's letters.
  const std::string_view plain = name.substr(0, name.find_first_of("(<", 1));
  const std::string_view last = plain.substr(std::min(plain.find_last_of(":~") + 1, plain.size()));
  const bool is_operator = last.starts_with("operator");
  std::map<std::string, const Entry*> found;
  const auto key = [](const Entry& entry) {
    return std::tuple(entry.name.find("D0Ev") != std::string_view::npos, entry.rank, entry.name, entry.function);
  };
  for (const Entry& entry : index_) {
    if (!entry.name.starts_with("_Z")) continue;
    if (!is_operator && entry.name.find(last) == std::string_view::npos) continue;
    const symbols::WrittenName written(entry.name);
    if (!written.is(name)) continue;
    const Entry*& best = found[written.whole()];
    if (best == nullptr || key(entry) < key(*best)) best = &entry;
  }
  if (found.empty()) return fail(ENOENT);
  if (found.size() == 1) return &all_[found.begin()->second->function];
  std::string all;
  std::size_t shown = 0;
  for (const auto& [whole, entry] : found) {
    if (shown++ < kMostShown) all += (all.empty() ? "" : ", ") + whole;
  }
  if (shown > kMostShown) all += " and " + std::to_string(shown - kMostShown) + " more";
  return fail(EINVAL, std::string(name) + " is the name of " + std::to_string(shown) +
                          " functions; name one with its parameters: " + all);
}

std::uint64_t Functions::next_begin(std::uint64_t address) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                      [](std::uint64_t at, const Function& function) { return at < function.begin; });
  return after == all_.end() ? ~0ull : after->begin;
}

}  // namespace landtrace::code
