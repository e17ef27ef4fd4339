// When a child calls exec, as the kernel's perf tells it.
#include "perf/exec_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/clock.hpp"

namespace landtrace::perf {
namespace {

TEST(ExecWatchTest, TellsOfTheFirstExec) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char sign;
    std::ignore = ::read(ends[0], &sign, 1);
    ::execl("/bin/sh", "sh", "-c", "exec /bin/true", nullptr);
    ::_exit(1);
  }
  auto watch = ExecWatch::open(static_cast<std::uint32_t>(child));
  if (watch) {
    EXPECT_FALSE(watch->first_exec_ns());
  }
  const std::uint64_t before = arch::monotonic_ns();
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  if (!watch) GTEST_SKIP() << "SKIPPED: the kernel gives no perf events here";
  const auto first = watch->first_exec_ns();
  ASSERT_TRUE(first);
  EXPECT_GT(*first, before);
  EXPECT_LT(*first, arch::monotonic_ns());
  EXPECT_EQ(watch->first_exec_ns(), first);
}

}  // namespace
}  // namespace landtrace::perf
