#include "attach/safe_place.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/mapping.hpp"

namespace landtrace::attach {
namespace {

constexpr long kRestart = -512, kRestartBlock = -516;

user_regs_struct standing_at(std::uint64_t ip, const void* stack) {
  user_regs_struct registers{};
  registers.rip = ip;
  registers.rsp = reinterpret_cast<std::uint64_t>(stack);
  registers.orig_rax = ~0ull;
  return registers;
}
user_regs_struct in_call(long number, long result, const void* stack) {
  user_regs_struct registers = standing_at(reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, "read")) + 2, stack);
  registers.orig_rax = static_cast<std::uint64_t>(number);
  registers.rax = static_cast<std::uint64_t>(result);
  return registers;
}

class SafePlace : public testing::Test {
 protected:
  // With nothing on it, and nothing behind it: on the heap there may be an address that stands below a handler.
  const Mapping memory_of_stack_ = *Mapping::map(create_memfd("stack", 4096)->get(), 4096, Mapping::Access::kReadWrite);
  const void* const stack_ = memory_of_stack_.data();
  const std::uint32_t self_ = static_cast<std::uint32_t>(::getpid());
  const ProgramMemory memory_ = *ProgramMemory::open(self_);
  const std::vector<MappedRange> ranges_ = *memory_.ranges();
  const SafePlaces places_ = SafePlaces::of(memory_, ranges_, objects_in(memory_, ranges_));
};

TEST(BeginAnew, IsWhatTheSystemWouldDo) {
  user_regs_struct registers = in_call(SYS_read, kRestart, nullptr);
  const std::uint64_t behind = registers.rip;
  begin_anew(registers);
  EXPECT_EQ(registers.rax, static_cast<std::uint64_t>(SYS_read));
  EXPECT_EQ(registers.rip, behind - 2);
  EXPECT_EQ(registers.orig_rax, ~0ull);
  registers = in_call(SYS_nanosleep, kRestartBlock, nullptr);
  begin_anew(registers);
  EXPECT_EQ(registers.rax, static_cast<std::uint64_t>(SYS_restart_syscall));
  EXPECT_EQ(registers.rip, behind - 2);
  registers = in_call(SYS_epoll_wait, -EINTR, nullptr);
  begin_anew(registers);
  EXPECT_EQ(registers.rax, static_cast<std::uint64_t>(SYS_epoll_wait));
  EXPECT_EQ(registers.rip, behind - 2);
}

TEST(BeginAnew, LeavesWhatIsDoneAlone) {
  for (const long result : {0L, 17L, -EAGAIN + 0L}) {
    user_regs_struct registers = in_call(SYS_read, result, nullptr);
    const std::uint64_t behind = registers.rip;
    begin_anew(registers);
    EXPECT_EQ(registers.rax, static_cast<std::uint64_t>(result));
    EXPECT_EQ(registers.rip, behind);
  }
  // A descriptor that was closed although the call says that it was interrupted is not closed twice.
  user_regs_struct registers = in_call(SYS_close, -EINTR, nullptr);
  EXPECT_FALSE(is_in_call(registers));
}

TEST_F(SafePlace, IsTheProgramsOwnCodeAndNotLibcsOrTheLoaders) {
  // Its address is one of this object.
  const auto own = reinterpret_cast<std::uint64_t>(&standing_at);
  EXPECT_TRUE(places_.is_safe(self_, standing_at(own, stack_)));
  for (const char* const name : {"malloc", "pthread_create", "dlopen", "strlen"}) {
    const auto libcs = reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, name));
    EXPECT_FALSE(places_.is_safe(self_, standing_at(libcs, stack_))) << name;
  }
  EXPECT_FALSE(places_.is_safe(self_, standing_at(reinterpret_cast<std::uint64_t>(stack_), stack_))) << "no code";
}

TEST_F(SafePlace, IsACallThatNobodyMakesWithALockHeld) {
  EXPECT_TRUE(places_.is_safe(self_, in_call(SYS_nanosleep, kRestartBlock, stack_)));
  EXPECT_TRUE(places_.is_safe(self_, in_call(SYS_epoll_wait, -EINTR, stack_)));
  EXPECT_FALSE(places_.is_safe(self_, in_call(SYS_mmap, kRestart, stack_)));
  EXPECT_FALSE(places_.is_safe(self_, in_call(SYS_write, kRestart, stack_)));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  user_regs_struct reading = in_call(SYS_read, kRestart, stack_);
  reading.rdi = static_cast<std::uint64_t>(ends[0]);
  EXPECT_TRUE(places_.is_safe(self_, reading));
  // The loader reads objects.
  FILE* const file = std::tmpfile();
  reading.rdi = static_cast<std::uint64_t>(::fileno(file));
  EXPECT_FALSE(places_.is_safe(self_, reading));
  std::fclose(file);
  ::close(ends[0]);
  ::close(ends[1]);
}

const SafePlaces* looked_at = nullptr;

// What the handler sees that interrupts `fault`: the thread is in the test's code, and in what beneath it?
template <typename Function>
bool is_safe_in_handler_of(Function fault) {
  const pid_t child = ::fork();
  if (child == 0) {
    const ProgramMemory memory = *ProgramMemory::open(static_cast<std::uint32_t>(::getpid()));
    const std::vector<MappedRange> ranges = *memory.ranges();
    const SafePlaces places = SafePlaces::of(memory, ranges, objects_in(memory, ranges));
    looked_at = &places;
    struct sigaction action {};
    action.sa_handler = [](int) {
      const user_regs_struct here =
          standing_at(reinterpret_cast<std::uint64_t>(&standing_at), __builtin_frame_address(0));
      ::_exit(looked_at->is_safe(static_cast<std::uint32_t>(::getpid()), here) ? 1 : 0);
    };
    ::sigaction(SIGSEGV, &action, nullptr);
    fault();
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_LT(WEXITSTATUS(status), 2);
  return WEXITSTATUS(status) == 1;
}

TEST(SafePlaces, AreNotInAHandlerThatHasInterruptedLibc) {
  const char* volatile nothing = nullptr;
  EXPECT_FALSE(is_safe_in_handler_of([&] {
    volatile std::size_t size = ::strlen(nothing);
    (void)size;
  }));
  EXPECT_TRUE(is_safe_in_handler_of([&] { (void)*static_cast<const volatile char*>(nothing); }));
}

}  // namespace
}  // namespace landtrace::attach
