#include "preload/real.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace landtrace::preload {
namespace {

TEST(RealTest, EveryFunctionIsTheNextLibrarys) {
  const Real& found = real();
  EXPECT_EQ(found.open, reinterpret_cast<decltype(found.open)>(::dlsym(RTLD_NEXT, "open")));
  EXPECT_EQ(found.execve, reinterpret_cast<decltype(found.execve)>(::dlsym(RTLD_NEXT, "execve")));
  EXPECT_EQ(&real(), &found);
  // None is left for later.
  const auto* const functions = reinterpret_cast<void* const*>(&found);
  for (std::size_t i = 0; i < sizeof found / sizeof *functions; ++i) EXPECT_NE(functions[i], nullptr) << i;
}

TEST(RealTest, TheyDoWhatTheirNamesSay) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(real().write(ends[1], "ab", 2), 2);
  char text[4] = {};
  EXPECT_EQ(real().read(ends[0], text, sizeof text), 2);
  EXPECT_STREQ(text, "ab");
  char more[] = "cd";
  const iovec vector{more, 2};
  EXPECT_EQ(real().writev(ends[1], &vector, 1), 2);
  int waiting = 0;
  EXPECT_EQ(real().ioctl(ends[0], 0x541b /* FIONREAD */, &waiting), 0);
  EXPECT_EQ(waiting, 2);
  EXPECT_EQ(real().pwrite(ends[1], "x", 1, 0), -1);
  EXPECT_EQ(errno, ESPIPE);
  EXPECT_EQ(real().pwritev(ends[1], &vector, 1, 0), -1);
  EXPECT_EQ(real().pwritev2(ends[1], &vector, 1, -1, 0), 2);
  const int copy = real().dup(ends[0]);
  EXPECT_GE(copy, 0);
  EXPECT_EQ(real().dup2(ends[0], copy), copy);
  EXPECT_EQ(real().dup3(ends[0], copy, O_CLOEXEC), copy);
  EXPECT_EQ(real().fcntl(copy, F_GETFD, nullptr), FD_CLOEXEC);
  EXPECT_EQ(real().syscall(SYS_getpid), ::getpid());
  for (const int fd : {ends[0], ends[1], copy}) EXPECT_EQ(real().close(fd), 0);
  const int folder = real().open("/", O_RDONLY | O_DIRECTORY, 0);
  const int file = real().openat(folder, "proc/self/exe", O_RDONLY, 0);
  EXPECT_GE(file, 0);
  EXPECT_EQ(real().close_range(static_cast<unsigned>(folder), static_cast<unsigned>(folder), 0), 0);
  EXPECT_EQ(real().close(folder), -1);
  EXPECT_EQ(real().close(file), 0);
}

}  // namespace
}  // namespace landtrace::preload
