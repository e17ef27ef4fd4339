#include "tracefs/test_probed.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <regex>
#include <stdexcept>

#include "symbols/elf_file.hpp"

namespace landtrace::tracefs {
namespace {

// std::regex_replace with a function.
std::string replace(const std::string& text, const std::regex& pattern,
                    const std::function<std::string(const std::smatch&)>& by) {
  std::string out;
  std::string::const_iterator at = text.begin();
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    out.append(at, (*it)[0].first).append(by(*it));
    at = (*it)[0].second;
  }
  return out.append(at, text.end());
}

}  // namespace

TestProbed::TestProbed() : path_(fmt::format("/tmp/landtrace-p{:05}", ::getpid() % 100'000)) {
  ::unlink(path_.c_str());
  if (::symlink(LANDTRACE_PROBED, path_.c_str()) != 0) throw std::runtime_error(path_);
  const auto symbols = symbols::ElfFile::open(path_)->symbols(SHT_SYMTAB);
  for (const Elf64_Sym& symbol : symbols.symbols) {
    // Text is mapped where it lies in the file.
    const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (is_function) offsets_.emplace(symbols.names.c_str() + symbol.st_name, symbol.st_value);
  }
}

TestProbed::~TestProbed() { ::unlink(path_.c_str()); }

std::string TestProbed::fill(const std::string& text) const {
  static const std::regex kPlace(R"(<((?:OFF:)?\w+)(?:\+(\w+))?>)");
  return replace(text, kPlace, [&](const std::smatch& match) -> std::string {
    std::string name = match[1];
    if (name == "PROBED") return path_;
    const bool is_bare = name.starts_with("OFF:");
    if (is_bare) name.erase(0, 4);
    const auto found = offsets_.find(name);
    if (found == offsets_.end()) return match[0];
    const std::uint64_t more = match[2].matched ? std::stoull(match[2], nullptr, 0) : 0;
    return fmt::format("{}0x{:x}", is_bare ? "" : path_ + ":", found->second + more);
  });
}

std::string TestProbed::near(std::uint64_t offset) const {
  constexpr std::uint64_t kNear = 64;
  std::string best;
  std::uint64_t least = kNear;
  for (const auto& [name, begin] : offsets_) {
    if (name.starts_with('_') || begin > offset || offset - begin >= least) continue;
    best = name;
    least = offset - begin;
  }
  return best.empty() || least == 0 ? best : fmt::format("{}+{}", best, least);
}

std::string TestProbed::strip(const std::string& text) const {
  static const std::regex kName("_0x([0-9a-f]+)\\b"), kHit("\\(0x[0-9a-f]+\\)"),
      kReturn("\\(0x[0-9a-f]+ <- 0x[0-9a-f]+\\)");
  const std::regex place(path_ + ":0x([0-9a-f]+)");
  std::string out = replace(text, place, [&](const std::smatch& match) -> std::string {
    const std::string name = near(std::stoull(match[1], nullptr, 16));
    return name.empty() ? std::string(match[0]) : "<" + name + ">";
  });
  out = replace(out, kName, [&](const std::smatch& match) -> std::string {
    const std::string name = near(std::stoull(match[1], nullptr, 16));
    return name.empty() ? std::string(match[0]) : "_<OFF:" + name + ">";
  });
  out = std::regex_replace(out, std::regex(path_), "<PROBED>");
  return std::regex_replace(std::regex_replace(out, kHit, "(ADDR)"), kReturn, "(ADDR <- ADDR)");
}

}  // namespace landtrace::tracefs
