#include "cli/static_program.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "cli/test_environment.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class StaticProgramTest : public testing::Test {
 protected:
  // A program of so many segments, all of this type.
  std::string make_program(std::uint32_t segment_type, std::uint16_t segments = 2,
                           unsigned char elf_class = ELFCLASS64) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = segments;
    Elf64_Phdr segment{};
    segment.p_type = segment_type;
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    for (unsigned i = 0; i < 2; ++i) bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
    return make_file(bytes);
  }

  std::string make_file(const std::string& bytes) {
    const std::string path = dir_.file("program");
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), 0755);
    return path;
  }

  output::TempDir dir_;
};

TEST_F(StaticProgramTest, WithoutAnInterpreterItIsStatic) { EXPECT_TRUE(is_static_program(make_program(PT_LOAD))); }

TEST_F(StaticProgramTest, WithAnInterpreterItIsNot) {
  EXPECT_FALSE(is_static_program(make_program(PT_INTERP)));
  EXPECT_FALSE(is_static_program("/proc/self/exe"));
}

TEST_F(StaticProgramTest, ItIsLookedForInThePath) {
  make_program(PT_LOAD);
  const Variable path("PATH", ("/nowhere:" + dir_.file(".")).c_str());
  EXPECT_TRUE(is_static_program("program"));
  EXPECT_FALSE(is_static_program("no-such-program"));
}

TEST_F(StaticProgramTest, WhatCannotBeReadIsNotStatic) {
  EXPECT_FALSE(is_static_program(make_file("#!/bin/sh\n")));
  EXPECT_FALSE(is_static_program(make_file("")));
  EXPECT_FALSE(is_static_program(make_program(PT_LOAD, 3))) << "a segment is missing";
  EXPECT_FALSE(is_static_program(make_program(PT_LOAD, 0)));
  EXPECT_FALSE(is_static_program(make_program(PT_LOAD, 2, ELFCLASS32)));
  EXPECT_FALSE(is_static_program(dir_.file(".")));
  EXPECT_FALSE(is_static_program(""));
}

TEST_F(StaticProgramTest, WhatHelpsIsSaid) {
  const std::string program = make_program(PT_LOAD);
  EXPECT_EQ(why_none_registered({program, "x"}, false, "/s"),
            "; '" + program + "' is linked statically and needs --tracefs");
  EXPECT_EQ(why_none_registered({program}, true, "/s"), "") << "it had the files";
  EXPECT_EQ(why_none_registered({"/proc/self/exe"}, false, "/s"),
            "; programs that are linked statically need --tracefs");
  EXPECT_EQ(why_none_registered({}, false, "/s"), " in the domain at /s; `landtrace run -- CMD` joins it");
}

}  // namespace
}  // namespace landtrace::cli
