#include "cli/progress.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class SummaryTest : public testing::Test {
 protected:
  output::TempDir dir_;
  Summary summary_{1, 0, {}, 1, dir_.file("t.dat")};
};

TEST_F(SummaryTest, OneOfEach) {
  EXPECT_EQ(summary_text(summary_), "1 event, 0 lost, 1 program, 0 B in " + summary_.file);
}

TEST_F(SummaryTest, ManyAndWhyTheyWereLost) {
  summary_.written = 1'234'567;
  summary_.processes = 2;
  summary_.totals.discarded = 1000;
  summary_.totals.overwritten = 2;
  summary_.totals.placeless = 30;
  summary_.unwritten = 4;
  EXPECT_THAT(
      summary_text(summary_),
      StartsWith("1,234,567 events, 1,036 lost (1,000 discarded, 2 overwritten, 30 of threads without a place, 4 "
                 "not written), 2 programs, "));
}

TEST_F(SummaryTest, OnlyTheReasonsThatThereWere) {
  summary_.totals.overwritten = 7;
  EXPECT_THAT(summary_text(summary_), HasSubstr(", 7 lost (7 overwritten), "));
}

TEST_F(SummaryTest, TheFilesSizeIsLookedAt) {
  output::write_text(summary_.file, std::string(2048, 'x'));
  EXPECT_THAT(summary_text(summary_), EndsWith("2.0 KiB in " + summary_.file));
}

TEST_F(SummaryTest, GarbageInABufferIsSaid) {
  summary_.totals.corrupt = 3;
  EXPECT_THAT(summary_text(summary_), EndsWith("; 3 places of garbage in the buffers"));
}

TEST(ProgressTest, NothingIsDueWhereNobodyLooks) {
  testing::internal::CaptureStderr();
  const Progress progress;
  ::usleep(300'000);
  EXPECT_FALSE(progress.is_due());
  testing::internal::GetCapturedStderr();
}

// stderr is a terminal for as long as it lives.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY)), before_(::dup(STDERR_FILENO)) {
    if (::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0) return;
    const Fd slave(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY));
    works_ = slave && ::dup2(slave.get(), STDERR_FILENO) >= 0;
  }
  ~Terminal() { ::dup2(before_.get(), STDERR_FILENO); }
  [[nodiscard]] bool works() const { return works_; }
  std::string shown() {
    std::fflush(stderr);
    char text[1024];
    const ssize_t n = ::read(master_.get(), text, sizeof text);
    return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
  }

 private:
  Fd master_;
  Fd before_;
  bool works_ = false;
};

TEST(ProgressTest, OnATerminalALineIsRedrawnFromItsBeginning) {
  Terminal terminal;
  if (!terminal.works()) GTEST_SKIP() << "no terminal to be had";
  Progress progress;
  EXPECT_FALSE(progress.is_due()) << "only now and then";
  while (!progress.is_due()) ::usleep(10'000);
  progress.draw(1'000'000, 12, 3 << 20);
  const std::string shown = terminal.shown();
  EXPECT_THAT(shown, StartsWith("\r\033[K1,000,000 events  "));
  EXPECT_THAT(shown, EndsWith("/s  12 lost  3.0 MiB"));
  EXPECT_FALSE(progress.is_due()) << "it was drawn just now";
  progress.clear();
  EXPECT_EQ(terminal.shown(), "\r\033[K");
}

TEST(ProgressTest, ANarrowTerminalHasLessOfIt) {
  const auto text = [](std::size_t columns) { return progress_text(1234567, 50000, 3, 45056, columns); };
  EXPECT_EQ(text(80), "1,234,567 events  50,000/s  3 lost  44.0 KiB");
  EXPECT_EQ(text(44), text(80));
  EXPECT_EQ(text(43), "1,234,567 events  50,000/s  3 lost");
  EXPECT_EQ(text(33), "1,234,567 events  3 lost");
  EXPECT_EQ(text(20), "1,234,567 events");
  EXPECT_EQ(text(8), "1,234,5…");
}

}  // namespace
}  // namespace landtrace::cli
