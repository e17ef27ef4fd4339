#include "base/end_with_parent.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "base/child_end.hpp"

namespace landtrace {
namespace {

// The end of a child that was started with the variable's value, or without it.
int end_of_child(const char* parent) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("LANDTRACE_PARENT");
    if (parent != nullptr) ::setenv("LANDTRACE_PARENT", parent, 1);
    end_with_parent();
    ::_exit(std::getenv("LANDTRACE_PARENT") == nullptr ? 7 : 8);
  }
  return wait_for_end(child).value_or(-1);
}

TEST(EndWithParentTest, OneThatHasEndedBeforeIsNoticed) {
  for (const char* const other : {"1", "", "x"}) {
    const int status = end_of_child(other);
    ASSERT_TRUE(WIFSIGNALED(status)) << other;
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
  }
}

TEST(EndWithParentTest, OneThatIsThereIsNotPassedOn) {
  const int status = end_of_child(std::to_string(::getpid()).c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(EndWithParentTest, WithoutTheVariableAnybodyMayHaveStartedIt) {
  const int status = end_of_child(nullptr);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

// The pipe is closed where all that have it have ended.
TEST(EndWithParentTest, AKilledParentTakesItAlong) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    end_with_parent();  // this test
    if (::fork() == 0) {
      end_with_parent();
      std::ignore = ::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(parent, SIGKILL);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  wait_for_end(parent);
  ::close(ends[0]);
}

TEST(EndWithParentTest, VariablesStandInFrontOfThoseOfThisProcess) {
  ::setenv("LANDTRACE_PARENT", "old", 1);
  std::vector<std::string> variables{parent_variable()};
  const std::vector<char*> all = environment_with(variables);
  ::unsetenv("LANDTRACE_PARENT");
  EXPECT_EQ(all.front(), "LANDTRACE_PARENT=" + std::to_string(::getpid()));
  std::size_t count = 0;
  while (environ[count] != nullptr) ++count;
  ASSERT_EQ(all.size(), count + 3);  // the old one, too
  EXPECT_EQ(all.back(), nullptr);
  EXPECT_EQ(all[1], std::string_view(environ[0]));
}

}  // namespace
}  // namespace landtrace
