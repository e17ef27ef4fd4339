#include "cli/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace landtrace::cli {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

TEST(EnvironmentTest, SocketReplacesTheOldOne) {
  ::setenv("LANDTRACE_SOCKET", "/old", 1);
  const auto words = traced_environment("/new", "/shim.so");
  EXPECT_THAT(words, Contains(StartsWith("LANDTRACE_SOCKET=")).Times(1));
  EXPECT_THAT(words, Contains("LANDTRACE_SOCKET=/new"));
}

TEST(EnvironmentTest, ShimComesFirstAndKeepsTheOthers) {
  ::setenv("LD_PRELOAD", "/a.so:/b.so", 1);
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("LD_PRELOAD=/shim.so:/a.so:/b.so"));
  ::unsetenv("LD_PRELOAD");
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("LD_PRELOAD=/shim.so"));
}

TEST(EnvironmentTest, ProgramsWithAsanStartWithTheShimInFrontOfItsRuntime) {
  ::unsetenv("ASAN_OPTIONS");
  EXPECT_THAT(traced_environment("/s", "/shim.so"), Contains("ASAN_OPTIONS=verify_asan_link_order=0"));
  ::setenv("ASAN_OPTIONS", "detect_leaks=0:color=always", 1);
  const auto words = traced_environment("/s", "/shim.so");
  EXPECT_THAT(words, Contains("ASAN_OPTIONS=detect_leaks=0:color=always:verify_asan_link_order=0"));
  EXPECT_THAT(words, Contains(StartsWith("ASAN_OPTIONS=")).Times(1));
  ::unsetenv("ASAN_OPTIONS");
}

TEST(EnvironmentTest, NamedShimMustExist) {
  ::setenv("LANDTRACE_PRELOAD", "/nowhere/shim.so", 1);
  const auto found = find_preload();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, StartsWith("/nowhere/shim.so"));
}

TEST(EnvironmentTest, ShimInAPathThatCannotBePreloadedIsRefused) {
  const std::string path = ::testing::TempDir() + "with space.so";
  fclose(fopen(path.c_str(), "w"));
  ::setenv("LANDTRACE_PRELOAD", path.c_str(), 1);
  ASSERT_FALSE(find_preload());
  EXPECT_EQ(find_preload().error().code, EINVAL);
}

}  // namespace
}  // namespace landtrace::cli
