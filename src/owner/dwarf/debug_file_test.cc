// Debugging information that is kept apart from the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "dwarf/test_program.hpp"

namespace landtrace::dwarf {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kApartSource =
    "struct s { long first; int second; };\n"
    "__attribute__((noinline)) int work(struct s *s, int n) { return s->second + n; }\n"
    "int main(int argc, char **argv) { struct s s = {argc, 2}; return work(&s, argc); }\n";

class Apart : public ::testing::Test {
 protected:
  void run(const std::string& command) { run_command("cd " + program_.folder() + " && " + command); }
  std::string build_id_path() {
    run("readelf -n program | sed -n 's/.*Build ID: //p' >id");
    run("mkdir -p debug/.build-id/$(cut -c1-2 id)");
    return "debug/.build-id/$(cut -c1-2 id)/$(cut -c3- id).debug";
  }
  std::vector<std::string> work() { return program_.say(offset_, {"s->second"}, "entry"); }

  TestProgram program_{"test.c", kApartSource, "gcc -g -O1 -Wl,--build-id"};
  std::uint64_t offset_ = program_.offset_of("work");
};

TEST_F(Apart, IsFoundByItsBuildId) {
  run("objcopy --only-keep-debug program " + build_id_path() + " && strip program");
  EXPECT_THAT(work(), ElementsAre("second=+8(%di):s32"));
}

TEST_F(Apart, IsFoundByItsLinkBesideTheProgram) {
  for (const std::string folder : {"", ".debug/"}) {
    run("mkdir -p .debug && cp program whole && objcopy --only-keep-debug whole " + folder + "program.debug");
    run("strip -o program whole && objcopy --add-gnu-debuglink=" + folder + "program.debug program");
    EXPECT_THAT(work(), ElementsAre("second=+8(%di):s32")) << folder;
    run("mv whole program && rm " + folder + "program.debug");
  }
}

TEST_F(Apart, IsFoundByItsLinkBelowTheDebugFolder) {
  run("objcopy --only-keep-debug program program.debug && strip program");
  run("objcopy --add-gnu-debuglink=program.debug program && mkdir -p debug$PWD && mv program.debug debug$PWD");
  EXPECT_THAT(work(), ElementsAre("second=+8(%di):s32"));
}

TEST_F(Apart, OfAnotherBuildIsNotTaken) {
  run("objcopy --only-keep-debug program program.debug && strip --remove-section=.note.gnu.build-id program");
  run("objcopy --add-gnu-debuglink=program.debug program && printf x >>program.debug");
  EXPECT_THAT(work(), ElementsAre(HasSubstr("has no debugging information: compile it with -g")));
}

TEST_F(Apart, ThatIsMissingIsSaid) {
  run("strip program");
  EXPECT_THAT(work(), ElementsAre(HasSubstr("/program has no debugging information: compile it with -g, or install")));
}

TEST_F(Apart, ThatDwzHasSharedIsPutTogether) {
  if (std::system("command -v dwz >/dev/null") != 0) GTEST_SKIP() << "no dwz";
  run("cp program other && dwz -m shared.debug program other");
  ASSERT_TRUE(fs::exists(program_.folder() + "/shared.debug"));
  EXPECT_THAT(work(), ElementsAre("second=+8(%di):s32"));
}

TEST(SplitDwarf, ThatIsMissingIsSaid) {
  TestProgram program("test.c", kApartSource, "gcc -gdwarf-5 -O1 -gsplit-dwarf");
  EXPECT_THAT(program.say(program.offset_of("work"), {"n"}, "entry"), ElementsAre("n=%si:s32"));
  run_command("cd " + program.folder() + " && rm *.dwo");
  EXPECT_THAT(program.say(program.offset_of("work"), {"n"}, "entry"),
              ElementsAre(::testing::AllOf(HasSubstr("is in a file that is not there: "), HasSubstr(".dwo"))));
}

}  // namespace
}  // namespace landtrace::dwarf
