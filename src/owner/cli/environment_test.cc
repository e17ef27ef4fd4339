#include "cli/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/test_environment.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(EnvironmentTest, SocketReplacesTheOldOne) {
  const Variable old("LANDTRACE_SOCKET", "/old");
  const auto words = traced_environment("/new", "/shim.so");
  EXPECT_THAT(words, Contains(StartsWith("LANDTRACE_SOCKET=")).Times(1));
  EXPECT_THAT(words, Contains("LANDTRACE_SOCKET=/new"));
}

TEST(EnvironmentTest, ShimComesFirstAndKeepsTheOthers) {
  Variable others("LD_PRELOAD", "/a.so:/b.so");
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("LD_PRELOAD=/shim.so:/a.so:/b.so"));
  others.set(nullptr);
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("LD_PRELOAD=/shim.so"));
}

TEST(EnvironmentTest, ProgramsWithAsanStartWithTheShimInFrontOfItsRuntime) {
  Variable asan("ASAN_OPTIONS", nullptr);
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("ASAN_OPTIONS=verify_asan_link_order=0"));
  asan.set("detect_leaks=0:color=always");
  const auto words = traced_environment("/s", "/shim.so");
  EXPECT_THAT(words, Contains("ASAN_OPTIONS=detect_leaks=0:color=always:verify_asan_link_order=0"));
  EXPECT_THAT(words, Contains(StartsWith("ASAN_OPTIONS=")).Times(1));
}

TEST(EnvironmentTest, OtherVariablesAreHandedOn) {
  const Variable variable("LANDTRACE_TEST_VARIABLE", "a=b c");
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("LANDTRACE_TEST_VARIABLE=a=b c"));
  EXPECT_THAT(own_environment(), Contains("LANDTRACE_TEST_VARIABLE=a=b c"));
}

TEST(EnvironmentTest, ItsOwnIsLeftAsItIs) {
  const Variable socket("LANDTRACE_SOCKET", nullptr);
  const Variable preload("LD_PRELOAD", nullptr);
  const auto before = own_environment();
  traced_environment("/s", "/shim.so");
  EXPECT_EQ(own_environment(), before);
  EXPECT_THAT(before, Not(Contains(StartsWith("LANDTRACE_SOCKET="))));
}

TEST(EnvironmentTest, NamedShimMustExist) {
  const Variable named("LANDTRACE_PRELOAD", "/nowhere/shim.so");
  const auto found = find_preload();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ENOENT);
  EXPECT_THAT(found.error().message, StartsWith("/nowhere/shim.so"));
}

TEST(EnvironmentTest, NamedShimIsTakenByItsFullName) {
  const output::TempDir dir;
  output::write_text(dir.file("shim.so"), "");
  const Variable named("LANDTRACE_PRELOAD", dir.file("shim.so").c_str());
  EXPECT_EQ(*find_preload(), dir.file("shim.so"));
  const std::string relative = std::filesystem::relative(dir.file("shim.so"));
  const Variable again("LANDTRACE_PRELOAD", relative.c_str());
  EXPECT_TRUE(std::filesystem::path(*find_preload()).is_absolute()) << "the program may change its folder";
}

TEST(EnvironmentTest, WithoutANameTheShimIsLookedForBesideTheProgram) {
  for (const char* const unnamed : {static_cast<const char*>(nullptr), ""}) {
    const Variable named("LANDTRACE_PRELOAD", unnamed);
    const auto found = find_preload();
    ASSERT_FALSE(found) << "a test has none beside it";
    EXPECT_THAT(found.error().message, HasSubstr("/landtrace/liblandtrace-preload.so does not exist"));
    EXPECT_THAT(found.error().message, HasSubstr("$LANDTRACE_PRELOAD"));
  }
}

TEST(EnvironmentTest, ShimInAPathThatCannotBePreloadedIsRefused) {
  const output::TempDir dir;
  for (const char* const name : {"with space.so", "with:colon.so"}) {
    output::write_text(dir.file(name), "");
    const Variable named("LANDTRACE_PRELOAD", dir.file(name).c_str());
    const auto found = find_preload();
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, EINVAL);
  }
}

TEST(EnvironmentTest, ThisProgramIsKnownByItsFile) {
  EXPECT_THAT(own_program(), testing::EndsWith("/cli_test"));
  EXPECT_TRUE(std::filesystem::exists(own_program()));
}

TEST(EnvironmentTest, WordsForExecEndWithNull) {
  const std::vector<std::string> words{"a", "", "b"};
  const auto pointers = exec_array(words);
  ASSERT_EQ(pointers.size(), 4u);
  EXPECT_STREQ(pointers[0], "a");
  EXPECT_STREQ(pointers[1], "");
  EXPECT_STREQ(pointers[2], "b");
  EXPECT_EQ(pointers[3], nullptr);
}

TEST(EnvironmentTest, ProgramsThatEndWithThisOneAreToldSoFirst) {
  const std::string own = "LANDTRACE_PARENT=" + std::to_string(::getpid());
  EXPECT_THAT(ending_with_this({"LANDTRACE_PARENT=1", "A=b"}), ElementsAre(own, "LANDTRACE_PARENT=1", "A=b"));
}

}  // namespace
}  // namespace landtrace::cli
