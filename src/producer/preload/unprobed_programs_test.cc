#include "preload/unprobed_programs.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ipc/unprobed_mark.hpp"

namespace landtrace::preload {
namespace {

class UnprobedProgramsTest : public testing::Test {
 protected:
  UnprobedProgramsTest() {
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    mark_ = file("s") + ipc::kUnprobedSuffix;
    std::ofstream(mark_.c_str());
    set_noting(file("s"));
  }
  ~UnprobedProgramsTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string make(const std::string& name, std::initializer_list<unsigned> segments, mode_t mode = 0755,
                   unsigned char word = ELFCLASS64) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = word;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments.size());
    std::ofstream out(file(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    for (const unsigned type : segments) {
      Elf64_Phdr segment{};
      segment.p_type = type;
      out.write(reinterpret_cast<const char*>(&segment), sizeof segment);
    }
    out.close();
    ::chmod(file(name).c_str(), mode);
    return file(name);
  }
  std::string noted() {
    std::ifstream in(mark_);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(mark_, std::ios::trunc);
    return text;
  }

  char pattern_[32] = "/tmp/landtrace-unprobed-XXXXXX";
  std::string folder_ = ::mkdtemp(pattern_);
  std::string mark_;
};

TEST_F(UnprobedProgramsTest, AStaticProgramIsNotedAndOthersAreNot) {
  const std::string program = make("static", {PT_LOAD, PT_NOTE});
  note_program(program.c_str());
  EXPECT_EQ(noted(), "static " + program + "\n");
  note_program(make("dynamic", {PT_LOAD, PT_INTERP}).c_str());
  note_program(make("no_program", {PT_LOAD}, 0644).c_str());
  note_program(make("of_32_bits", {PT_LOAD}, 0755, ELFCLASS32).c_str());
  note_program(make("empty", {}).c_str());
  std::ofstream(file("script")) << "#!/bin/sh\n";
  ::chmod(file("script").c_str(), 0755);
  note_program(file("script").c_str());
  note_program(file("none").c_str());
  note_program(folder_.c_str());
  note_program("");
  note_program(nullptr);
  EXPECT_EQ(noted(), "");
}

TEST_F(UnprobedProgramsTest, ASegmentThatIsMissingSaysNothing) {
  const std::string program = make("cut", {PT_LOAD, PT_LOAD});
  std::filesystem::resize_file(program, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
  note_program(program.c_str());
  EXPECT_EQ(noted(), "");
}

TEST_F(UnprobedProgramsTest, AProgramWithAnothersRightsIsNoted) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string program = make("setuid", {PT_INTERP}, 0755);
  ASSERT_EQ(::chown(program.c_str(), 4242, 4242), 0);
  note_program(program.c_str());
  EXPECT_EQ(noted(), "");
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  note_program(program.c_str());
  EXPECT_EQ(noted(), "setuid " + program + "\n");
  ASSERT_EQ(::chown(program.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  note_program(program.c_str());
  EXPECT_EQ(noted(), "") << "the rights that it has already";
}

TEST_F(UnprobedProgramsTest, ANameIsLookedForInThePath) {
  std::filesystem::create_directories(file("a"));
  std::filesystem::create_directories(file("b"));
  make("a/x", {PT_LOAD}, 0644);
  const std::string program = make("b/x", {PT_LOAD});
  const std::string saved = std::getenv("PATH");
  ::setenv("PATH", (file("a") + ":" + file("b")).c_str(), 1);
  note_program_in_path("x");
  EXPECT_EQ(noted(), "static " + program + "\n");
  note_program_in_path("y");
  EXPECT_EQ(noted(), "");
  make("a/x", {PT_INTERP});
  note_program_in_path("x");
  EXPECT_EQ(noted(), "") << "the first that there is";
  note_program_in_path(program.c_str());
  EXPECT_EQ(noted(), "static " + program + "\n");
  ::setenv("PATH", saved.c_str(), 1);
}

TEST_F(UnprobedProgramsTest, WhereNobodyWantsToKnowNothingIsMade) {
  const std::string program = make("static", {PT_LOAD});
  std::filesystem::remove(mark_);
  errno = ENOMSG;
  note_program(program.c_str());
  EXPECT_EQ(errno, ENOMSG);
  EXPECT_FALSE(std::filesystem::exists(mark_));
  std::ofstream(file("other"));
  std::filesystem::create_symlink(file("other"), mark_);
  note_program(program.c_str());
  EXPECT_TRUE(std::filesystem::is_empty(file("other"))) << "no link is followed";
}

TEST_F(UnprobedProgramsTest, TheNoteHasAnEndAndOneLineAProgram) {
  const std::string program = make("two\nlines", {PT_LOAD});
  note_program(program.c_str());
  std::string shown = program;
  shown[shown.find('\n')] = '?';
  EXPECT_EQ(noted(), "static " + shown + "\n");
  for (int i = 0; i < 3000; ++i) note_program(program.c_str());
  EXPECT_LT(std::filesystem::file_size(mark_), 66'000u);
}

}  // namespace
}  // namespace landtrace::preload
