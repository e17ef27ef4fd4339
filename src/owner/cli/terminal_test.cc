#include "cli/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

using testing::ElementsAre;

TEST(ScreenTest, IsAsLargeAsTheTerminal) {
  int leader = -1;
  int follower = -1;
  const winsize size{12, 50, 0, 0};
  ASSERT_EQ(::openpty(&leader, &follower, nullptr, nullptr, &size), 0);
  const Fd ends[] = {Fd(leader), Fd(follower)};
  EXPECT_EQ(Screen::of(follower).columns, 50u);
  EXPECT_EQ(Screen::of(follower).rows, 12u);
  const winsize unknown{};
  ASSERT_EQ(::ioctl(leader, TIOCSWINSZ, &unknown), 0);
  EXPECT_EQ(Screen::of(follower).columns, Screen::kAny);
}

TEST(ScreenTest, AFileHasAnyRoom) {
  const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(Screen::of(null.get()).columns, Screen::kAny);
  EXPECT_EQ(Screen::of(null.get()).rows, Screen::kAny);
}

TEST(BrokenLinesTest, BreakBetweenWords) {
  EXPECT_THAT(broken_lines("one two three", 7, 7), ElementsAre("one two", "three"));
  EXPECT_THAT(broken_lines("one two three", 6, 6), ElementsAre("one", "two", "three"));
  EXPECT_THAT(broken_lines("one two three", 9, 4), ElementsAre("one", "two three"));
  EXPECT_THAT(broken_lines("longer-than-that x", 5, 5), ElementsAre("longer-than-that", "x"));
  EXPECT_THAT(broken_lines("", 5, 5), ElementsAre(""));
  EXPECT_THAT(broken_lines("äöü äöü", 7, 7), ElementsAre("äöü äöü")) << "by characters";
}

TEST(ShortenedTest, SaysThatSomethingIsLeftOut) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdef", 5), "abcd…");
  EXPECT_EQ(shortened("äöüß", 3), "äö…");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(FittedTest, IsNoHigherAndNoWiderThanTheScreen) {
  const std::string text = "first\nsecond line\nthird\nfourth\n";
  EXPECT_EQ(fitted(text, {}), text);
  EXPECT_EQ(fitted(text, {.columns = 8, .rows = 5}), "first\nsecond …\nthird\nfourth\n");
  EXPECT_EQ(fitted(text, {.columns = 80, .rows = 4}), "first\nsecond line\n… 2 more lines\n");
  EXPECT_EQ(fitted(text, {.columns = 80, .rows = 1}), "… 4 more lines\n");
  EXPECT_EQ(fitted("", {.columns = 80, .rows = 4}), "");
}

}  // namespace
}  // namespace landtrace::cli
