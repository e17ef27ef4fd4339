// On real files: this program, and what a compiler, objcopy and strip make of it.
#include "symbols/symbols.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/fd.hpp"

namespace landtrace::symbols {

// Nothing ends where it begins: an address there would be one behind a call.
[[gnu::noinline, gnu::aligned(4096)]] int a_function_of_this_test(int n) {
  asm volatile("" : "+r"(n));
  return n + 1;
}

namespace {

namespace fs = std::filesystem;

std::uint64_t own_bias() {
  std::uint64_t bias = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uint64_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

class SymbolsTest : public ::testing::Test {
 protected:
  SymbolsTest() {
    char name[] = "/tmp/landtrace-symbols-XXXXXX";
    folder_ = ::mkdtemp(name);
    copy_ = folder_ + "/program";
    fs::copy_file(fs::read_symlink("/proc/self/exe"), copy_);
    build_id_ = ElfFile::open(copy_)->build_id();
    address_ = reinterpret_cast<std::uint64_t>(&a_function_of_this_test) - own_bias();
  }
  ~SymbolsTest() override { fs::remove_all(folder_); }

  // "" where there is none.
  std::string name_at(std::uint64_t address) {
    const auto function = symbols_.find(copy_, build_id_, address);
    return function ? function->name + "+" + std::to_string(function->offset) : "";
  }
  static bool run(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }

  static constexpr const char* kName = "landtrace::symbols::a_function_of_this_test(int)";
  std::string folder_;
  std::string copy_;
  std::string build_id_;
  std::uint64_t address_ = 0;
  Symbols symbols_{"/nowhere"};
};

TEST_F(SymbolsTest, AFunctionAndTheOffsetInIt) {
  ASSERT_EQ(build_id_.size(), 20u);
  EXPECT_EQ(name_at(address_ + 3), std::string(kName) + "+3");
}

TEST_F(SymbolsTest, TheFirstInstruction) { EXPECT_EQ(name_at(address_), std::string(kName) + "+0"); }

TEST_F(SymbolsTest, NoFunctionThere) {
  EXPECT_EQ(name_at(1), "");
  EXPECT_EQ(name_at(0), "");
  EXPECT_EQ(name_at(~0ull), "");
}

TEST_F(SymbolsTest, AnotherBuildIdSaysNothing) {
  build_id_[3] ^= 1;
  EXPECT_EQ(name_at(address_), "");
}

TEST_F(SymbolsTest, NoFileSaysNothing) {
  fs::remove(copy_);
  EXPECT_EQ(name_at(address_), "");
}

TEST_F(SymbolsTest, StrippedWithASeparateDebugFile) {
  char hex[41] = {};
  for (unsigned i = 0; i < 20; ++i) std::snprintf(hex + 2 * i, 3, "%02x", static_cast<unsigned char>(build_id_[i]));
  const std::string id = hex;
  const std::string place = folder_ + "/.build-id/" + id.substr(0, 2);
  fs::create_directories(place);
  if (!run("objcopy --only-keep-debug " + copy_ + " " + place + "/" + id.substr(2) + ".debug")) GTEST_SKIP();
  ASSERT_TRUE(run("strip " + copy_));
  EXPECT_EQ(name_at(address_ + 2), "");
  symbols_ = Symbols(folder_);
  EXPECT_EQ(name_at(address_ + 2), std::string(kName) + "+2");
  symbols_ = Symbols(folder_);
  fs::remove(copy_);
  EXPECT_EQ(name_at(address_ + 2), std::string(kName) + "+2") << "the id is enough";
}

TEST_F(SymbolsTest, StrippedLibraryByItsDynamicSymbols) {
  Dl_info info{};
  void* map = nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, "qsort_r"));
  ASSERT_NE(::dladdr1(reinterpret_cast<void*>(address), &info, &map, RTLD_DL_LINKMAP), 0);
  const auto file = ElfFile::open(info.dli_fname);
  ASSERT_TRUE(file);
  const auto function =
      symbols_.find(info.dli_fname, file->build_id(), address + 4 - static_cast<link_map*>(map)->l_addr);
  ASSERT_TRUE(function);
  EXPECT_EQ(function->name, "qsort_r");
  EXPECT_EQ(function->offset, 4u);
}

TEST_F(SymbolsTest, AFifoIsNotWaitedFor) {
  fs::remove(copy_);
  ASSERT_TRUE(run("mkfifo " + copy_));
  EXPECT_EQ(ElfFile::open(copy_).error().code, EINVAL);
}

// open(2) has an answer of its own for each: ENXIO.
TEST_F(SymbolsTest, WhatIsNoFileIsNotOpened) {
  fs::remove(copy_);
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  copy_.copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_EQ(ElfFile::open(copy_).error().code, EINVAL);
  fs::remove(copy_);
  if (::mknod(copy_.c_str(), S_IFCHR | 0600, makedev(511, 0)) != 0) GTEST_SKIP() << "only root makes devices";
  EXPECT_EQ(ElfFile::open(copy_).error().code, EINVAL);
}

// Every byte of the headers, one after the other, and every length.
TEST_F(SymbolsTest, DamagedFiles) {
  const std::string bytes = read_file("/proc/self/exe").value_or("");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::srand(1);
  for (int round = 0; round < 100; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 8; ++i) {
      const bool in_header = std::rand() % 4 == 0;
      const std::size_t at = in_header ? std::rand() % sizeof header
                                       : header.e_shoff + std::rand() % (header.e_shnum * sizeof(Elf64_Shdr));
      damaged[at] = static_cast<char>(std::rand());
    }
    if (round % 4 == 0) damaged.resize(std::rand() % damaged.size());
    std::ofstream(copy_, std::ios::binary | std::ios::trunc) << damaged;
    const auto file = ElfFile::open(copy_);
    if (!file) continue;
    static_cast<void>(file->build_id());
    static_cast<void>(FunctionTable(file->symbols(SHT_SYMTAB)).find(address_));
  }
}

// Looking at all of the name each time would take hours.
TEST(FunctionTableTest, ManySymbolsMayShareOneEndlessName) {
  constexpr std::uint32_t kSymbols = 20'000;
  ElfFile::SymbolSection section;
  section.names = std::string(1, '\0') + std::string(8 << 20, '_') + "name";
  for (std::uint32_t i = 1; i <= kSymbols; ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = i;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = 0x1000;
    symbol.st_size = 16;
    section.symbols.push_back(symbol);
  }
  const FunctionTable table(std::move(section));
  const auto found = table.find(0x1004);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->name, std::string(16'384, '_'));
  EXPECT_EQ(table.named([](std::string_view name) { return name.size() == 16'384; }).size(), kSymbols);
}

TEST(FunctionTableTest, OfSeveralNamesTheOneWithTheFewestUnderscoresIsTaken) {
  ElfFile::SymbolSection section;
  section.names = std::string("\0__write\0_write\0write\0", 23);
  for (const std::uint32_t name : {1u, 9u, 16u}) {
    Elf64_Sym symbol{};
    symbol.st_name = name;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = 0x1000;
    symbol.st_size = 16;
    section.symbols.push_back(symbol);
  }
  const auto best = [](ElfFile::SymbolSection some) {
    return std::string(FunctionTable(std::move(some)).find(0x1000)->name);
  };
  EXPECT_EQ(best(section), "write");
  section.symbols.pop_back();
  EXPECT_EQ(best(section), "_write");
}

}  // namespace
}  // namespace landtrace::symbols
