// Separate debug files by their names, and versions in names.
#include "symbols/debug_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/fd.hpp"
#include "symbols/symbols.hpp"
#include "symbols/versions.hpp"

namespace landtrace::symbols {
namespace {

namespace fs = std::filesystem;

bool run(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }

// A stripped copy of this program in FOLDER/bin, whose .gnu_debuglink names "program.debug", which is in FOLDER.
class DebugLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/landtrace-debuglink-XXXXXX";
    folder_ = ::mkdtemp(name);
    fs::create_directories(folder_ + "/bin");
    program_ = folder_ + "/bin/program";
    debug_ = folder_ + "/program.debug";
    fs::copy_file(fs::read_symlink("/proc/self/exe"), program_);
    if (!run("objcopy --only-keep-debug " + program_ + " " + debug_)) GTEST_SKIP() << "no objcopy";
    ASSERT_TRUE(run("strip " + program_ + " && objcopy --add-gnu-debuglink=" + debug_ + " " + program_));
  }
  void TearDown() override { fs::remove_all(folder_); }

  bool finds(const std::string& debug_folder = "/nowhere") {
    const auto file = ElfFile::open(program_);
    const auto found = find_debug_file(*file, program_, debug_folder);
    return found && !found->symbols(SHT_SYMTAB).symbols.empty();
  }
  // Of the same length.
  void rename_link(const std::string& name) {
    std::fstream file(program_, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::size_t at = bytes.find("program.debug");
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(name.size(), std::strlen("program.debug"));
    file.seekp(static_cast<std::streamoff>(at));
    file.write(name.data(), static_cast<std::streamsize>(name.size()));
  }
  void drop_build_id() {
    ASSERT_TRUE(run("objcopy --remove-section=.note.gnu.build-id " + program_));
    ASSERT_TRUE(ElfFile::open(program_)->build_id().empty());
  }

  std::string folder_, program_, debug_;
};

TEST_F(DebugLinkTest, IsFoundBesideTheProgramAndInTheStandardFolder) {
  EXPECT_FALSE(finds());
  fs::copy_file(debug_, folder_ + "/bin/program.debug");
  EXPECT_TRUE(finds());
  fs::create_directories(folder_ + "/bin/.debug");
  fs::rename(folder_ + "/bin/program.debug", folder_ + "/bin/.debug/program.debug");
  EXPECT_TRUE(finds());
  fs::remove_all(folder_ + "/bin/.debug");
  EXPECT_FALSE(finds());
  fs::create_directories(folder_ + "/debug" + folder_ + "/bin");
  fs::rename(debug_, folder_ + "/debug" + folder_ + "/bin/program.debug");
  EXPECT_TRUE(finds(folder_ + "/debug"));
  // Names of functions come from there.
  Symbols symbols(folder_ + "/debug");
  EXPECT_FALSE(symbols.named(program_, ElfFile::open(program_)->build_id(), "main").empty());
}

TEST_F(DebugLinkTest, AnotherProgramsFileIsNotTaken) {
  fs::copy_file("/bin/sh", folder_ + "/bin/program.debug");
  EXPECT_FALSE(finds());
}

TEST_F(DebugLinkTest, WithoutABuildIdTheChecksumTells) {
  drop_build_id();
  fs::copy_file(debug_, folder_ + "/bin/program.debug");
  EXPECT_TRUE(finds());
  std::ofstream(folder_ + "/bin/program.debug", std::ios::app) << "x";
  EXPECT_FALSE(finds());
}

TEST_F(DebugLinkTest, ALinkThatLeadsElsewhereOpensNothing) {
  drop_build_id();
  // "../", and what a symbolic link in the folder leads to.
  rename_link("../rogr.debug");
  fs::copy_file(debug_, folder_ + "/rogr.debug");
  EXPECT_FALSE(finds());
  rename_link("program.debug");
  fs::create_symlink(debug_, folder_ + "/bin/program.debug");
  EXPECT_FALSE(finds());
  fs::remove(folder_ + "/bin/program.debug");
  fs::copy_file(debug_, folder_ + "/bin/same");
  fs::create_symlink("same", folder_ + "/bin/program.debug");
  EXPECT_TRUE(finds()) << "a link within the folder";
}

TEST_F(DebugLinkTest, WhatIsNoFileIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ + "/bin/program.debug").c_str(), 0600), 0);
  EXPECT_FALSE(finds());
  fs::remove(folder_ + "/bin/program.debug");
  fs::create_directory(folder_ + "/bin/program.debug");
  EXPECT_FALSE(finds());
}

TEST(SymbolVersionsTest, NamesAreSplitAtTheirVersion) {
  const auto hidden = split_version("memcpy@GLIBC_2.2.5");
  EXPECT_EQ(hidden.name, "memcpy");
  EXPECT_EQ(hidden.version, "GLIBC_2.2.5");
  EXPECT_TRUE(hidden.is_hidden);
  const auto usual = split_version("memcpy@@GLIBC_2.14");
  EXPECT_EQ(usual.version, "GLIBC_2.14");
  EXPECT_FALSE(usual.is_hidden);
  EXPECT_EQ(split_version("memcpy").version, "");
  EXPECT_FALSE(split_version("memcpy").is_hidden);
  EXPECT_EQ(split_version("@plt").name, "@plt");
  EXPECT_EQ(split_version("").name, "");
}

// Every byte of the sections that tell versions, one after the other: nothing outside of them is read.
TEST(SymbolVersionsTest, DamagedOnesAreNoHarm) {
  char name[] = "/tmp/landtrace-versions-XXXXXX";
  const std::string path = std::string(::mkdtemp(name)) + "/lib";
  const std::string bytes = read_file("/proc/self/exe").value_or("");
  const auto file = ElfFile::open("/proc/self/exe");
  for (const Elf64_Shdr& section : file->sections()) {
    if (section.sh_type != SHT_GNU_versym && section.sh_type != SHT_GNU_verneed) continue;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(section.sh_size, 64); ++i) {
      std::string damaged = bytes;
      damaged[section.sh_offset + i] = static_cast<char>(0xff);
      std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
      const SymbolVersions versions(*ElfFile::open(path));
      for (std::size_t symbol = 0; symbol < 100'000; symbol += 7) EXPECT_LE(versions.of(symbol).name.size(), 256u);
    }
  }
  fs::remove_all(fs::path(path).parent_path());
}

}  // namespace
}  // namespace landtrace::symbols
