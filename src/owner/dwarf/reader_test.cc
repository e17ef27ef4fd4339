#include "dwarf/reader.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "dwarf/reader_program.hpp"
#include "dwarf/test_program.hpp"

namespace landtrace::dwarf {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kReadSource =
    "__attribute__((noinline)) int work(const char *text, int n) { return text[n]; }\n"
    "int main(int argc, char **argv) { return work(argv[0], argc); }\n";

class ReaderTest : public ::testing::Test {
 protected:
  ReaderTest() { ::setenv("LANDTRACE_DWARF", LANDTRACE_TEST_READER, 1); }
  ~ReaderTest() override { ::unsetenv("LANDTRACE_DWARF"); }

  Fd open() { return Fd(::open(program_.path().c_str(), O_RDONLY | O_CLOEXEC)); }
  Reader reader(const Fd& file) {
    return {file.get(), program_.path(), {::getuid(), ::getgid()}, 20s, program_.debug_folder};
  }

  TestProgram program_{"test.c", kReadSource, "gcc -g -O1"};
};

TEST_F(ReaderTest, AsksAProgramOfItsOwn) {
  const Fd file = open();
  const auto values = reader(file).values(program_.offset_of("work"), false, {"n", "nope", "$params"});
  ASSERT_TRUE(values) << values.error().message;
  ASSERT_EQ(values->size(), 3u);
  EXPECT_EQ((*values)[0]->at(0).fetch, "%si:s32");
  EXPECT_THAT((*values)[1].error(), HasSubstr("nope is no parameter"));
  EXPECT_EQ((*values)[2]->size(), 2u);
  EXPECT_EQ(reader(file).line("test.c", 1)->offsets, program_.line("test.c", 1));
  EXPECT_EQ(reader(file).line("test.c", 77).error().code, ENOENT);
  EXPECT_EQ(*reader(file).why_no_function("work"), "");
  EXPECT_EQ(reader(file).functions()->size(), 2u);
}

TEST_F(ReaderTest, SaysThatThereIsNoSuchProgram) {
  ::setenv("LANDTRACE_DWARF", "/nowhere/landtrace-dwarf", 1);
  const auto functions = reader(open()).functions();
  ASSERT_FALSE(functions);
  EXPECT_THAT(functions.error().message, HasSubstr("/nowhere/landtrace-dwarf"));
}

class FakeReader : public ReaderTest {
 protected:
  // A program in place of landtrace-dwarf.
  std::string run(const std::string& script, std::chrono::milliseconds patience = 20s) {
    const std::string path = program_.folder() + "/fake";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    ::setenv("LANDTRACE_DWARF", path.c_str(), 1);
    const auto values = Reader(open().get(), program_.path(), {}, patience).values(1, false, {"n"});
    return values ? "values" : values.error().message;
  }
};

TEST_F(FakeReader, ThatCrashesEndsNothingElse) {
  EXPECT_THAT(run("kill -SEGV $$"), HasSubstr("is damaged: reading it ends in SEGV"));
}

TEST_F(FakeReader, ThatDoesNotEndIsEnded) {
  EXPECT_THAT(run("exec sleep 1000", 300ms), HasSubstr("takes too long"));
  EXPECT_THAT(run("kill -XCPU $$"), HasSubstr("takes too long"));
}

TEST_F(FakeReader, ThatSaysSomethingElseIsNotBelieved) {
  EXPECT_EQ(run("printf 'value\\tn\\t%%di\\nnext\\nend\\n'"), "values");
  for (const char* const said :
       {"", "end\\n", "next\\n", "next\\nnext\\nend\\n", "value\\tn\\nend\\n", "place\\t1\\nend\\n", "next\\nend",
        "error\\tx\\ty\\nend\\n", "error\\t0\\ty\\nend\\n"}) {
    EXPECT_THAT(run(std::string("printf '") + said + "'"), HasSubstr("is damaged")) << said;
  }
  EXPECT_EQ(run("printf 'error\\t5\\twhy not\\nend\\n'"), "why not");
}

TEST_F(FakeReader, HasNoDescriptorsAndNoEnvironment) {
  const Fd other(::fcntl(open().get(), F_DUPFD, 7));  // not to be closed by exec
  EXPECT_EQ(run("for fd in 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && exit; done; [ -e /proc/$$/fd/3 ] || exit; "
                "[ -z \"$HOME$LANDTRACE_DWARF\" ] || exit; printf 'next\\nend\\n'"),
            "values");
}

TEST(ParsePlaces, TakesNumbersAlone) {
  EXPECT_THAT(parse_places("place\t16\nplace\t32\nend\n")->offsets, ElementsAre(16, 32));
  for (const char* const text : {"end\n", "place\tx\nend\n", "place\t-1\nend\n", "place\nend\n", "place\t1\n"}) {
    EXPECT_FALSE(parse_places(text)) << text;
  }
}

TEST(ParseFunctions, WantsParametersBehindTheirFunction) {
  const auto functions = parse_functions("function\t16\ta.c\t7\tint\nparameter\tn\tlong\t\nend\n");
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->at(0).line, 7u);
  EXPECT_EQ(functions->at(0).parameters.at(0).type, "long");
  EXPECT_FALSE(parse_functions("parameter\tn\tlong\t\nend\n"));
  EXPECT_FALSE(parse_functions("function\t16\ta.c\tx\tint\nend\n"));
}

}  // namespace
}  // namespace landtrace::dwarf
