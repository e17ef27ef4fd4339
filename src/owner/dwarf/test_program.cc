#include "dwarf/test_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "dwarf/reader.hpp"
#include "dwarf/reading/answers.hpp"

namespace landtrace::dwarf {
namespace {

struct OpenElf {
  explicit OpenElf(const std::string& path) : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  }
  ~OpenElf() { elf_end(elf); }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  Fd fd;
  Elf* elf = nullptr;
};

}  // namespace

void run_command(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

TestProgram::TestProgram(const std::string& file, const std::string& source, const std::string& compiler) {
  std::string pattern = std::filesystem::temp_directory_path() / "landtrace-dwarf-XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  path_ = folder_ + "/program";
  debug_folder = folder_ + "/debug";
  std::ofstream(folder_ + "/" + file) << source;
  run_command(fmt::format("cd {} && {} {} -o program", folder_, compiler, file));
}

TestProgram::~TestProgram() { std::filesystem::remove_all(folder_); }

std::uint64_t TestProgram::address_of(const std::string& symbol) const {
  const OpenElf open(path_);
  for (Elf_Scn* scn = elf_nextscn(open.elf, nullptr); scn != nullptr; scn = elf_nextscn(open.elf, scn)) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* const data = elf_getdata(scn, nullptr);
    GElf_Sym each;
    for (int i = 0; gelf_getsym(data, i, &each) != nullptr; ++i) {
      const char* const name = elf_strptr(open.elf, header.sh_link, each.st_name);
      if (name != nullptr && symbol == name) return each.st_value;
    }
  }
  ADD_FAILURE() << "no symbol " << symbol;
  return 0;
}

std::uint64_t TestProgram::offset_of(const std::string& symbol) const {
  const std::uint64_t address = address_of(symbol);
  const OpenElf open(path_);
  std::size_t count = 0;
  elf_getphdrnum(open.elf, &count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    gelf_getphdr(open.elf, static_cast<int>(i), &header);
    const bool has_it =
        header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz;
    if (has_it) return address - header.p_vaddr + header.p_offset;
  }
  ADD_FAILURE() << symbol << " is not loaded";
  return 0;
}

std::string TestProgram::ask(const std::vector<std::string>& words) const {
  return answer(Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)), path_, debug_folder, words);
}

std::vector<std::string> TestProgram::say(std::uint64_t offset, const std::vector<std::string>& expressions,
                                          const std::string& side) const {
  std::vector<std::string> words{"values", fmt::format("{}", offset), side};
  words.insert(words.end(), expressions.begin(), expressions.end());
  const auto values = parse_values(ask(words), expressions.size());
  if (!values) return {values.error().message};
  std::vector<std::string> said;
  for (const NamedValues& each : *values) {
    if (!each) said.push_back(each.error());
    if (!each) continue;
    for (const NamedValue& value : *each) said.push_back(value.name + "=" + value.fetch);
  }
  return said;
}

std::vector<std::uint64_t> TestProgram::line(const std::string& file, unsigned number) const {
  const auto places = parse_places(ask({"line", file, fmt::format("{}", number)}));
  return places ? places->offsets : std::vector<std::uint64_t>();
}

std::vector<std::string> compilers(const std::string& language) {
  const bool is_c = language == "c";
  std::vector<std::string> all;
  for (const char* const name :
       is_c ? std::vector<const char*>{"gcc", "clang"} : std::vector<const char*>{"g++", "clang++"}) {
    if (std::system(fmt::format("command -v {} >/dev/null", name).c_str()) != 0) continue;
    for (const char* const options : {"-gdwarf-4 -O0", "-gdwarf-5 -O0", "-gdwarf-4 -O2", "-gdwarf-5 -O2"}) {
      // Clang leaves out types that another object has.
      const bool is_clang = std::string_view(name).starts_with("clang");
      all.push_back(fmt::format("{} {}{}", name, options, is_clang ? " -fstandalone-debug" : ""));
    }
  }
  all.push_back(fmt::format("{} -gdwarf-5 -O0 -gsplit-dwarf", is_c ? "gcc" : "g++"));
  return all;
}

std::string test_name(const std::string& compiler) {
  std::string name;
  for (const char c : compiler) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    if (c == '+') name += 'p';
  }
  return name;
}

}  // namespace landtrace::dwarf
