#include "symbols/versions.hpp"

#include <algorithm>
#include <cstring>

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kMaxVersionBytes = 64u << 20;
constexpr std::size_t kLongestVersion = 256;
constexpr std::uint16_t kHidden = 0x8000;
// The file's own name is the first version; what has it has none.
constexpr std::uint16_t kFirstIndex = 2;

template <typename T>
bool take(const std::string& bytes, std::uint64_t at, T& out) {
  if (bytes.size() < sizeof out || at > bytes.size() - sizeof out) return false;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return true;
}

}  // namespace

SymbolVersions::SymbolVersions(const ElfFile& file) {
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type == SHT_GNU_verdef && names_.empty()) read_names(file, section);
    if (section.sh_type != SHT_GNU_versym || !indices_.empty()) continue;
    const auto bytes = file.contents(section, kMaxVersionBytes);
    if (!bytes) continue;
    indices_.resize(bytes->size() / sizeof(std::uint16_t));
    if (!indices_.empty()) std::memcpy(indices_.data(), bytes->data(), indices_.size() * sizeof(std::uint16_t));
  }
}

void SymbolVersions::read_names(const ElfFile& file, const Elf64_Shdr& section) {
  if (section.sh_link >= file.sections().size()) return;
  const auto bytes = file.contents(section, kMaxVersionBytes);
  const auto text = file.contents(file.sections()[section.sh_link], kMaxVersionBytes);
  if (!bytes || !text) return;
  Elf64_Verdef definition;
  // Each one lies behind the one before, so there is an end.
  for (std::uint64_t at = 0; take(*bytes, at, definition); at += definition.vd_next) {
    Elf64_Verdaux name;
    const std::uint16_t index = definition.vd_ndx & static_cast<std::uint16_t>(~kHidden);
    if (take(*bytes, at + definition.vd_aux, name) && name.vda_name < text->size() && index >= kFirstIndex) {
      if (index >= names_.size()) names_.resize(index + 1u);
      const char* const begin = text->data() + name.vda_name;
      names_[index].assign(begin, ::strnlen(begin, std::min(kLongestVersion, text->size() - name.vda_name)));
    }
    if (definition.vd_next < sizeof definition) break;
  }
}

SymbolVersions::Version SymbolVersions::of(std::size_t symbol) const {
  if (symbol >= indices_.size()) return {};
  const std::uint16_t index = indices_[symbol] & static_cast<std::uint16_t>(~kHidden);
  if (index < kFirstIndex || index >= names_.size() || names_[index].empty()) return {};
  return {names_[index], (indices_[symbol] & kHidden) != 0};
}

VersionedName split_version(std::string_view text) {
  const std::size_t at = text.find('@', 1);
  if (at == std::string_view::npos) return {text, {}, false};
  const bool is_default = text.substr(at).starts_with("@@");
  return {text.substr(0, at), text.substr(at + (is_default ? 2 : 1)), !is_default};
}

}  // namespace landtrace::symbols
