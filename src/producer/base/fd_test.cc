#include "base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace landtrace {
namespace {

TEST(FdTest, ClosesOnceAndMoves) {
  int raw = -1;
  {
    Fd a(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(a);
    raw = a.get();
    Fd b = std::move(a);
    EXPECT_EQ(b.get(), raw);
    EXPECT_NE(::fcntl(raw, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

TEST(FdTest, ReadFileRefusesMoreThanItsLimit) {
  ASSERT_TRUE(read_file("/proc/self/stat"));
  const auto too_large = read_file("/dev/zero", 4096);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, EFBIG);
}

TEST(FdTest, WriteAllSaysWhyItFailed) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const auto result = write_all(full.get(), "x", 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ENOSPC);
}

}  // namespace
}  // namespace landtrace
