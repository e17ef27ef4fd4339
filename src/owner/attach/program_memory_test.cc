#include "attach/program_memory.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace landtrace::attach {
namespace {

class ProgramMemoryTest : public testing::Test {
 protected:
  const ProgramMemory memory_ = *ProgramMemory::open(static_cast<std::uint32_t>(::getpid()));
  const std::vector<MappedRange> ranges_ = *memory_.ranges();
  const std::vector<MappedObject> objects_ = objects_in(memory_, ranges_);

  const MappedObject& libc() const {
    return *std::find_if(objects_.begin(), objects_.end(), [](const auto& one) { return one.name() == "libc.so.6"; });
  }
};

TEST_F(ProgramMemoryTest, FindsFunctionsWhereTheLoaderFindsThem) {
  for (const char* const name : {"pthread_create", "dlopen", "dlsym", "dlerror", "malloc", "pthread_cond_wait"}) {
    EXPECT_EQ(libc().find(memory_, name), reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, name))) << name;
  }
  EXPECT_EQ(libc().find(memory_, "no_such_function"), 0u);
  // What an object only refers to is not its own.
  for (const MappedObject& object : objects_) {
    if (object.name() != "libstdc++.so.6") continue;
    EXPECT_EQ(object.find(memory_, "pthread_create"), 0u);
  }
}

TEST_F(ProgramMemoryTest, KnowsWhereCodeIs) {
  const MappedRange* const range = range_of(ranges_, reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, "getpid")));
  ASSERT_NE(range, nullptr);
  EXPECT_TRUE(range->is_executable);
  EXPECT_EQ(range->path, libc().path());
  EXPECT_EQ(range_of(ranges_, 0), nullptr);
  EXPECT_EQ(range_of(ranges_, ~0ull), nullptr);
  ASSERT_EQ(libc().code().size(), 1u);
  EXPECT_EQ(libc().rests()[0].begin, libc().code()[0].end);
  EXPECT_EQ(libc().rests()[0].end % 4096, 0u);
}

TEST_F(ProgramMemoryTest, IsGoneWithItsProgram) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto memory = ProgramMemory::open(static_cast<std::uint32_t>(child));
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->is_gone());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(memory->is_gone());
  EXPECT_FALSE(ProgramMemory::open(static_cast<std::uint32_t>(child)));
}

}  // namespace
}  // namespace landtrace::attach
