// Against glibc's backtrace(), which unwinds by the same tables with libgcc's code, in frames as compilers make them.
#include "unwind/capture.hpp"

#include <execinfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "unwind/registers.hpp"

namespace landtrace::unwind {
namespace {

using ::testing::ElementsAreArray;
using Frames = std::vector<std::uint64_t>;

#if defined(__aarch64__)
#define LT_ILLEGAL "udf #0"
#else
#define LT_ILLEGAL "ud2"
#endif

constexpr std::uint32_t kNone = ~0u;

struct Taken {
  std::uint64_t ours[kMaxFrames];
  std::uint32_t count = kNone;
  void* theirs[256];
  int their_count = 0;
};
Taken taken;

[[gnu::noinline]] void take() {
  taken.count = capture(taken.ours, kMaxFrames, {});
  taken.their_count = ::backtrace(taken.theirs, 256);
  asm volatile("" ::: "memory");
}

// Both from the caller of take() on: within it they were called in two places.
Frames ours() { return {taken.ours + 1, taken.ours + std::max(taken.count, 1u)}; }
Frames theirs() {
  Frames frames;
  // A sanitizer puts a function of its own before it.
  void* const* const end = taken.theirs + taken.their_count;
  void* const* at = std::find<void* const*>(taken.theirs, end, reinterpret_cast<void*>(taken.ours[1]));
  for (; at < end && frames.size() < kMaxFrames - 1; ++at) frames.push_back(reinterpret_cast<std::uint64_t>(*at));
  return frames;
}

void expect_same() {
  ASSERT_NE(taken.count, kNone);
  EXPECT_GE(ours().size(), 2u);
  EXPECT_THAT(ours(), ElementsAreArray(theirs()));
  taken = {};
}

// The compiler may use rbp for what it likes, as everywhere without -fno-omit-frame-pointer. It keeps it where there is
// nothing else to go by. (Clang does both by itself, and has no attribute for it.)
#if defined(__clang__)
#define LT_FRAMES gnu::noinline
#elif defined(__x86_64__)
#define LT_FRAMES gnu::noinline, gnu::optimize("omit-frame-pointer")
#else
#define LT_FRAMES gnu::noinline, gnu::optimize("no-omit-frame-pointer")
#endif
[[LT_FRAMES]] unsigned deep(unsigned depth) {
  if (depth == 0) {
    take();
    return 1;
  }
  const unsigned below = deep(depth - 1);
#if defined(__x86_64__)
  asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
#endif
  return below + depth;
}

[[gnu::noinline]] unsigned with_variable_frame(std::size_t size) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(size));
  room[0] = 1;
  return deep(3) + static_cast<unsigned char>(room[0]);
}

int compare(const void* /*a*/, const void* /*b*/) {
  if (taken.count == kNone) take();
  return 0;
}

void on_signal(int /*number*/) { take(); }

class SignalHandler {
 public:
  SignalHandler(int number, int flags) : number_(number) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    ::sigaction(number, &action, &before_);
  }
  ~SignalHandler() { ::sigaction(number_, &before_, nullptr); }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

 private:
  int number_;
  struct sigaction before_ {};
};

class CaptureTest : public ::testing::Test {
 protected:
  void SetUp() override { taken = {}; }
};

TEST_F(CaptureTest, CallsWithoutFramePointers) {
  deep(5);
  expect_same();
}

TEST_F(CaptureTest, FramesOfVariableSize) {
  with_variable_frame(300);
  expect_same();
}

TEST_F(CaptureTest, ThroughACallbackOfTheCLibrary) {
  int numbers[] = {3, 1, 2};
  ::qsort(numbers, 3, sizeof numbers[0], compare);
  expect_same();
}

TEST_F(CaptureTest, ThroughASignal) {
  if (!kByTables) GTEST_SKIP() << "SKIPPED: frame pointers do not lead to where a signal came";
  const SignalHandler handler(SIGUSR1, 0);
  ::raise(SIGUSR1);
  expect_same();
}

// A signal may come between any two instructions, before a function has its frame and when it has it no more.
TEST_F(CaptureTest, InterruptedInstruction) {
  if (!kByTables) GTEST_SKIP() << "SKIPPED: frame pointers do not lead to where a signal came";
  const SignalHandler handler(SIGSEGV, SA_RESETHAND);
  struct sigaction skip {};
  skip.sa_sigaction = [](int, siginfo_t*, void* context) {
    take();
    mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__aarch64__)
    machine.pc += 4;
#else
    machine.gregs[REG_RIP] += 2;
#endif
  };
  skip.sa_flags = SA_SIGINFO;
  struct sigaction before {};
  ::sigaction(SIGILL, &skip, &before);
  asm volatile(LT_ILLEGAL);
  ::sigaction(SIGILL, &before, nullptr);
  expect_same();
}

TEST_F(CaptureTest, FromAnAlternateStackToTheOneThatWasLeft) {
  if (!kByTables) GTEST_SKIP() << "SKIPPED: frame pointers do not lead to where a signal came";
  std::vector<char> room(65536);
  const stack_t stack{room.data(), 0, room.size()};
  stack_t before{};
  ASSERT_EQ(::sigaltstack(&stack, &before), 0);
  {
    const SignalHandler handler(SIGUSR1, SA_ONSTACK);
    ::raise(SIGUSR1);
  }
  ::sigaltstack(&before, nullptr);
  expect_same();
}

TEST_F(CaptureTest, AThread) {
  std::thread([] { deep(4); }).join();
  expect_same();
}

TEST_F(CaptureTest, DeepRecursionIsCut) {
  deep(1000);
  EXPECT_EQ(taken.count, kMaxFrames);
  EXPECT_THAT(ours(), ElementsAreArray(theirs()));
}

TEST_F(CaptureTest, DeepInTheStack) {
  for (int i = 0; i < 3; ++i) {
    taken = {};
    deep(100'000);
    EXPECT_THAT(ours(), ElementsAreArray(theirs()));
  }
}

ucontext_t main_context;
ucontext_t coroutine_context;

TEST_F(CaptureTest, ACoroutine) {
  constexpr std::size_t kBytes = 256 * 1024;
  for (int i = 0; i < 3; ++i) {
    taken = {};
    void* const room = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(room, MAP_FAILED);
    ::getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = room;
    coroutine_context.uc_stack.ss_size = kBytes;
    coroutine_context.uc_link = &main_context;
    ::makecontext(
        &coroutine_context, +[] { deep(3); }, 0);
    ::swapcontext(&main_context, &coroutine_context);
    ::munmap(room, kBytes);
    Frames all = ours();
    EXPECT_GE(all.size(), 4u);
#ifdef __SANITIZE_ADDRESS__
    all.resize(std::min(all.size(), theirs().size()));  // the sanitizer's backtrace() ends with the stack it knows
#endif
    EXPECT_THAT(all, ElementsAreArray(theirs()));
  }
}

// Code made at run time, as far as it matters: no table covers it, and it keeps frame pointers.
TEST_F(CaptureTest, CodeWithoutATableIsLeftByItsFramePointer) {
#if defined(__aarch64__)
  // stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret
  constexpr std::uint32_t kCode[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
  constexpr std::uint64_t kBehindCall = 12;
#else
  // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
  constexpr unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  constexpr std::uint64_t kBehindCall = 6;
#endif
  void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  std::memcpy(code, kCode, sizeof kCode);
  ASSERT_EQ(::mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
  __builtin___clear_cache(static_cast<char*>(code), static_cast<char*>(code) + sizeof kCode);
  reinterpret_cast<void (*)(void (*)())>(code)(take);
  const auto call = reinterpret_cast<std::uint64_t>(code) + kBehindCall;
  ASSERT_GE(taken.count, 3u);
  EXPECT_EQ(taken.ours[1], call);
  Object object;
  EXPECT_TRUE(find_object(taken.ours[2], object)) << "the test itself";
  ::munmap(code, 4096);
}

// The same with rbp pointing anywhere.
class GarbageFramePointerTest : public ::testing::TestWithParam<std::uint64_t> {};

void take_ours() { taken.count = capture(taken.ours, kMaxFrames, {}); }

TEST_P(GarbageFramePointerTest, EndsTheStack) {
#if defined(__aarch64__)
  // stp x29, x30, [sp, #-16]!; mov x29, x1; blr x0; ldp x29, x30, [sp], #16; ret
  constexpr std::uint32_t kCode[] = {0xa9bf7bfd, 0xaa0103fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#else
  // push %rbp; mov %rsi,%rbp; call *%rdi; pop %rbp; ret
  constexpr unsigned char kCode[] = {0x55, 0x48, 0x89, 0xf5, 0xff, 0xd7, 0x5d, 0xc3};
#endif
  void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  std::memcpy(code, kCode, sizeof kCode);
  ASSERT_EQ(::mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
  __builtin___clear_cache(static_cast<char*>(code), static_cast<char*>(code) + sizeof kCode);
  taken = {};
  reinterpret_cast<void (*)(void (*)(), std::uint64_t)>(code)(&take_ours, GetParam());
  EXPECT_EQ(taken.count, 2u);
  ::munmap(code, 4096);
}

INSTANTIATE_TEST_SUITE_P(Anywhere, GarbageFramePointerTest,
                         ::testing::Values(0, 1, 0x1000, 0x7fff'ffff'f000, 0x7fff'ffff'fff8, 0xffff'ffff'ffff'fff8,
                                           0x8000'0000'0000'0000, 0x5555'5555'5550));

// A stack that has been overwritten: whatever is read leads nowhere or somewhere, and nothing is touched that is not
// there.
TEST_F(CaptureTest, OverwrittenStack) {
  std::srand(1);
  for (int round = 0; round < 200; ++round) {
    constexpr std::size_t kBytes = 64 * 1024;
    constexpr std::size_t kWords = 64;  // what is overwritten, above the first frame
    void* const room = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(room, MAP_FAILED);
    ::getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = room;
    coroutine_context.uc_stack.ss_size = kBytes - kWords * sizeof(std::uint64_t);
    coroutine_context.uc_link = &main_context;
    ::makecontext(
        &coroutine_context,
        +[] {
          auto* const above = static_cast<volatile std::uint64_t*>(__builtin_frame_address(0));
          const auto place = reinterpret_cast<std::uint64_t>(above);
          const std::uint64_t kinds[] = {place, reinterpret_cast<std::uint64_t>(&deep) + 20, 0, ~0ull, place + 64};
          for (std::size_t i = 0; i < kWords; ++i) {
            above[i] = kinds[std::rand() % 5] + static_cast<std::uint64_t>(std::rand() % 64) * 8;
          }
          taken.count = capture(taken.ours, kMaxFrames, {});
          ::setcontext(&main_context);
        },
        0);
    ::swapcontext(&main_context, &coroutine_context);
    EXPECT_LE(taken.count, kMaxFrames);
    ::munmap(room, kBytes);
  }
}

[[gnu::noinline]] void entry() {
  const void* const entries[] = {reinterpret_cast<const void*>(&entry)};
  taken.count = capture(taken.ours, kMaxFrames, {entries, 1, false});
  asm volatile("");
}

TEST_F(CaptureTest, BeginsWithTheCallerOfAnEntryPoint) {
  entry();
  const std::uint64_t first = taken.ours[0];
  take();
  EXPECT_LT(first, ours()[0]) << "both are calls of this function, one behind the other";
  EXPECT_GT(first + 4096, ours()[0]);
  taken.count = capture(taken.ours, kMaxFrames, {.object = true});
  ASSERT_GT(taken.count, 0u);
  Object object;
  ASSERT_TRUE(find_object(reinterpret_cast<std::uint64_t>(&entry), object));
  EXPECT_FALSE(object.holds(taken.ours[0])) << "the C library, which calls main";
}

// Only probes lead threads away.
#if defined(__x86_64__)

std::uint64_t left_at[arch::kRegisters];

// The place in the middle of this function, as a probe's stub would keep it; then on, into the tracer.
[[gnu::noinline]] void led_away() {
  ucontext_t context;
  ::getcontext(&context);
  const auto at = [&context](int number) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]); };
  constexpr std::pair<arch::Register, int> kSame[] = {
      {arch::kRbx, REG_RBX}, {arch::kRbp, REG_RBP}, {arch::kRsp, REG_RSP}, {arch::kR12, REG_R12},
      {arch::kR13, REG_R13}, {arch::kR14, REG_R14}, {arch::kR15, REG_R15}, {arch::kRip, REG_RIP}};
  for (const auto& [ours, theirs] : kSame) left_at[ours] = at(theirs);
  const auto led_from = []() -> const std::uint64_t* { return left_at; };
  [&]() __attribute__((noinline)) { taken.count = capture(taken.ours, kMaxFrames, {.led_from = led_from}); }
  ();
  asm volatile("");
}

TEST_F(CaptureTest, BeginsWithThePlaceThatTheThreadWasLedFrom) {
  led_away();
  ASSERT_GE(taken.count, 3u);
  EXPECT_EQ(taken.ours[0], left_at[arch::kRip]);
  const Frames from_here(taken.ours + 2, taken.ours + taken.count);
  take();
  EXPECT_EQ(Frames(taken.ours + 2, taken.ours + taken.count), from_here) << "the callers of this function";
  const auto nowhere = []() -> const std::uint64_t* { return nullptr; };
  taken.count = capture(taken.ours, kMaxFrames, {.led_from = nowhere});
  EXPECT_EQ(Frames(taken.ours + 1, taken.ours + taken.count), from_here);
}

#endif

TEST_F(CaptureTest, LeavesOutCodeThatStandsBetween) {
  take();
  const Frames all(taken.ours + 1, taken.ours + taken.count);
  ASSERT_GE(all.size(), 4u);
  taken.count = capture(taken.ours, kMaxFrames, {}, {}, {all[1], all[1] + 1});
  Frames wanted(all.begin() + 2, all.end());
  EXPECT_EQ(Frames(taken.ours + 1, taken.ours + taken.count), wanted);
  taken.count = capture(taken.ours, kMaxFrames, {}, {}, {all[1] - 1, all[1]});
  wanted.insert(wanted.begin(), all[1]);
  EXPECT_EQ(Frames(taken.ours + 1, taken.ours + taken.count), wanted) << "the end is not part of it";
}

TEST_F(CaptureTest, NoMoreThanAskedFor) {
  EXPECT_EQ(capture(taken.ours, 2, {}), 2u);
  EXPECT_EQ(capture(taken.ours, 0, {}), 0u);
}

TEST_F(CaptureTest, TellsTheObjectsOfItsFrames) {
  std::vector<Object> objects;
  const auto listener = [](void* self, const Object& object) {
    static_cast<std::vector<Object>*>(self)->push_back(object);
  };
  taken.count = capture(taken.ours, kMaxFrames, {}, {listener, &objects});
  for (std::uint32_t i = 0; i < taken.count; ++i) {
    EXPECT_TRUE(std::any_of(objects.begin(), objects.end(), [&](const Object& o) { return o.holds(taken.ours[i]); }));
  }
  EXPECT_EQ(objects[0].build_id_size, 20u);
}

}  // namespace
}  // namespace landtrace::unwind
