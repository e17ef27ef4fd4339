#include "cli/text_output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

// Standard output is `fd` for as long as it lives.
class Output {
 public:
  explicit Output(int fd) : before_(::dup(STDOUT_FILENO)) { ::dup2(fd, STDOUT_FILENO); }
  ~Output() { ::dup2(before_.get(), STDOUT_FILENO); }

 private:
  Fd before_;
};

TEST(TextOutputTest, WhatWasCollectedIsWrittenOnce) {
  testing::internal::CaptureStdout();
  TextOutput out;
  out.text() += "one\n";
  out.text() += "two\n";
  EXPECT_TRUE(out.flush());
  EXPECT_EQ(out.text(), "");
  EXPECT_TRUE(out.flush());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one\ntwo\n");
  EXPECT_EQ(out.status(), 0);
}

TEST(TextOutputTest, LittleIsKeptUntilThereIsMuch) {
  testing::internal::CaptureStdout();
  TextOutput out;
  out.text() = std::string(64 * 1024 - 1, 'x');
  EXPECT_TRUE(out.flush_if_full());
  EXPECT_NE(out.text(), "");
  out.text() += 'x';
  EXPECT_TRUE(out.flush_if_full());
  EXPECT_EQ(out.text(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout().size(), 64u * 1024);
}

TEST(TextOutputTest, AFullDeviceIsAFailureThatIsSaid) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  TextOutput out;
  {
    const Output redirected(full.get());
    out.text() = "x";
    EXPECT_FALSE(out.flush());
    EXPECT_FALSE(out.flush()) << "once is enough";
  }
  testing::internal::CaptureStderr();
  EXPECT_EQ(out.status(), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("standard output: No space left on device"));
}

TEST(TextOutputTest, AReaderThatHasGoneIsNoFailure) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd writer(ends[1]);
  ::close(ends[0]);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  TextOutput out;
  {
    const Output redirected(writer.get());
    out.text() = "x";
    EXPECT_FALSE(out.flush());
  }
  ::signal(SIGPIPE, before);
  EXPECT_EQ(out.status(), 0);
}

}  // namespace
}  // namespace landtrace::cli
