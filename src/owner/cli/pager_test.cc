#include "cli/pager.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/fd.hpp"
#include "cli/test_environment.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class PagerTest : public testing::Test {
 protected:
  // A process with this standard output prints "text" as it would to a pager. Its exit status.
  static int print_to(int out) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(out, STDOUT_FILENO);
      {
        const Pager pager;
        if (::write(STDOUT_FILENO, "text", 4) != 4) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  // The same on a terminal.
  int print_to_terminal() {
    const Fd terminal(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY));
    return print_to(terminal.get());
  }
  bool has_terminal() { return master_ && ::grantpt(master_.get()) == 0 && ::unlockpt(master_.get()) == 0; }

  output::TempDir dir_;
  std::string paged_ = dir_.file("paged");
  Variable pager_{"PAGER", ("tee " + paged_).c_str()};
  Fd master_{::posix_openpt(O_RDWR | O_NOCTTY)};
};

TEST_F(PagerTest, OnATerminalThePagerGetsTheText) {
  if (!has_terminal()) GTEST_SKIP() << "no terminal to be had";
  EXPECT_EQ(print_to_terminal(), 0);
  EXPECT_EQ(output::read_text(paged_), "text");
}

TEST_F(PagerTest, ElsewhereThereIsNone) {
  const std::string file = dir_.file("out");
  const Fd out(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_EQ(print_to(out.get()), 0);
  EXPECT_EQ(output::read_text(file), "text");
  EXPECT_NE(::access(paged_.c_str(), F_OK), 0);
}

TEST_F(PagerTest, WithoutANameOrTheProgramTheTextIsShownAsItIs) {
  if (!has_terminal()) GTEST_SKIP() << "no terminal to be had";
  for (const char* const named : {"", "cat", "no-such-pager"}) {
    pager_.set(named);
    EXPECT_EQ(print_to_terminal(), 0) << named;
    char text[16];
    EXPECT_EQ(std::string(text, static_cast<std::size_t>(::read(master_.get(), text, sizeof text))), "text") << named;
  }
}

}  // namespace
}  // namespace landtrace::cli
