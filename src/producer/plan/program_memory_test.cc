#include "plan/program_memory.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

#include "arch/thread_time.hpp"

namespace landtrace::plan {
namespace {

constexpr std::size_t kPage = 4096;

std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

std::uint64_t mended = 0;

void on_fault(int, siginfo_t*, void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__aarch64__)
  auto& pc = machine.pc;
#else
  auto& pc = machine.gregs[REG_RIP];
#endif
  if (!mend_load_fault(reinterpret_cast<std::int64_t*>(&pc))) ::_exit(99);
  ++mended;
}

// What the thread has found is forgotten then.
void let_pass_a_tick_and_some_hits() {
  const std::uint64_t before = arch::tick_ns();
  while (arch::tick_ns() == before) ::usleep(200);
  constexpr int kHits = 16;
  const char byte = 1;
  for (int i = 0; i < kHits; ++i) {
    char copy = 0;
    EXPECT_EQ(ProgramMemory().read(address_of(&byte), &copy, 1), 1u);
  }
}

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// With the handler of SIGSEGV and SIGBUS, and without one.
class ProgramMemoryTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    pages_ = static_cast<char*>(::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages_, MAP_FAILED);
    ASSERT_EQ(::mprotect(pages_ + 2 * kPage, kPage, PROT_NONE), 0);
    mended = 0;
    if (!GetParam()) return;
    struct sigaction ours {};
    ours.sa_flags = SA_SIGINFO;
    ours.sa_sigaction = on_fault;
    ASSERT_EQ(::sigaction(SIGSEGV, &ours, &before_), 0);
    ASSERT_EQ(::sigaction(SIGBUS, &ours, &bus_before_), 0);
    set_load_guard(reinterpret_cast<const void*>(on_fault));
    let_pass_a_tick_and_some_hits();
  }
  void TearDown() override {
    if (GetParam()) ::sigaction(SIGSEGV, &before_, nullptr);
    if (GetParam()) ::sigaction(SIGBUS, &bus_before_, nullptr);
    set_load_guard(nullptr);
    ::munmap(pages_, 3 * kPage);
  }
  char* put(std::size_t at, std::string_view text) {
    return static_cast<char*>(std::memcpy(pages_ + at, text.data(), text.size()));
  }
  static std::string read(const char* from, std::size_t size) {
    std::string to(size, '?');
    to.resize(ProgramMemory().read(address_of(from), to.data(), size));
    return to;
  }
  // As it was copied, with its NUL.
  static std::string read_text(const char* from, std::size_t most) {
    std::string to(most + 8, '?');
    std::size_t length = 77;
    if (!ProgramMemory().read_text(address_of(from), to.data(), most, length)) return "none";
    for (std::size_t at = length; at < to.size(); ++at) {
      const bool may_be_cleared = at < length + 7 && at < most;
      EXPECT_TRUE(to[at] == '?' || (to[at] == '\0' && may_be_cleared)) << "behind the text: " << length << " " << at;
    }
    to.resize(length);
    return to;
  }

  char* pages_ = nullptr;
  struct sigaction before_ {};
  struct sigaction bus_before_ {};
};
INSTANTIATE_TEST_SUITE_P(, ProgramMemoryTest, testing::Bool(),
                         [](const auto& which) { return which.param ? "Guarded" : "Unguarded"; });

TEST_P(ProgramMemoryTest, BytesAreCopiedFromAnyPlaceAndInAnyNumber) {
  const std::string bytes = "0123456789abcdefghijklmnopqrstuvwxyz";
  put(100, bytes);
  for (std::size_t begin = 0; begin < 10; ++begin) {
    for (std::size_t size = 0; size < 20; ++size) {
      EXPECT_EQ(read(pages_ + 100 + begin, size), bytes.substr(begin, size)) << begin << " " << size;
    }
  }
  put(kPage - 5, "acrosspages");
  EXPECT_EQ(read(pages_ + kPage - 5, 11), "acrosspages");
}

TEST_P(ProgramMemoryTest, AReadEndsWhereTheMemoryDoes) {
  put(2 * kPage - 3, "end");
  EXPECT_EQ(read(pages_ + 2 * kPage - 3, 3), "end");
  EXPECT_LE(read(pages_ + 2 * kPage - 3, 8).size(), 3u);
  EXPECT_EQ(read(pages_ + 2 * kPage, 8), "");
  EXPECT_EQ(read(nullptr, 8), "");
  EXPECT_EQ(read(reinterpret_cast<const char*>(16), 8), "");
  EXPECT_EQ(read(reinterpret_cast<const char*>(0x8000000000000000), 8), "");  // no address at all
  EXPECT_EQ(read(reinterpret_cast<const char*>(~0ull - 3), 8), "");
}

TEST_P(ProgramMemoryTest, ATextEndsAtItsNulOrWhereThereIsNoRoom) {
  using namespace std::string_literals;
  for (std::size_t at = 64; at < 74; ++at) {
    for (std::size_t size = 0; size < 20; ++size) {
      std::memset(pages_, 'x', kPage);
      const std::string text = "abcdefghijklmnopqrst"s.substr(0, size);
      put(at, text + '\0');
      EXPECT_EQ(read_text(pages_ + at, 64), text + '\0') << at;
      EXPECT_EQ(read_text(pages_ + at, size), text) << at;
    }
  }
  EXPECT_EQ(read_text(pages_ + 3, 0), "");
  put(200, "\x80\xff\x01\x7f\0"s);
  EXPECT_EQ(read_text(pages_ + 200, 64), "\x80\xff\x01\x7f\0"s);
}

TEST_P(ProgramMemoryTest, ATextThatRunsOutOfMemoryIsNone) {
  std::memset(pages_ + kPage, 'x', kPage);
  EXPECT_EQ(read_text(pages_ + 2 * kPage - 10, 64), "none");
  EXPECT_EQ(read_text(pages_ + 2 * kPage - 10, 10).substr(0, 10), "xxxxxxxxxx");
  EXPECT_EQ(read_text(nullptr, 64), "none");
  EXPECT_EQ(read_text(pages_ + 2 * kPage, 64), "none");
}

// Another thread takes it away in the middle of a hit, which has found it before and does not ask again.
TEST_P(ProgramMemoryTest, APageThatGoesIsNoEnd) {
  put(0, "here");
  ProgramMemory memory;
  const auto read_on = [&] {
    std::string to(4, '?');
    to.resize(memory.read(address_of(pages_), to.data(), to.size()));
    return to;
  };
  ASSERT_EQ(read_on(), "here");
  ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
  EXPECT_EQ(read_on(), "");
  EXPECT_EQ(mended, GetParam() ? 1u : 0u);
  EXPECT_EQ(read_on(), "");
  EXPECT_EQ(mended, GetParam() ? 1u : 0u) << "a page that is known to be gone was read";
  ASSERT_EQ(::mprotect(pages_, kPage, PROT_READ), 0);
  EXPECT_EQ(read_on(), "here");
}

TEST_P(ProgramMemoryTest, APageThatHasGoneSinceTheLastHitIsNoEnd) {
  put(0, "here");
  ASSERT_EQ(read(pages_, 4), "here");
  ASSERT_EQ(read(pages_, 4), "here");
  ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
  EXPECT_EQ(read(pages_, 4), "");
  EXPECT_LE(mended, GetParam() ? 1u : 0u);
  ASSERT_EQ(::mprotect(pages_, kPage, PROT_READ), 0);
  EXPECT_EQ(read(pages_, 4), "here");
}

TEST_P(ProgramMemoryTest, APageThatHasGoneForATickAndSomeHitsIsNotRead) {
  put(0, "here");
  ASSERT_EQ(read(pages_, 4), "here");
  ASSERT_EQ(read(pages_, 4), "here");
  ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
  let_pass_a_tick_and_some_hits();
  EXPECT_EQ(read(pages_, 4), "");
  EXPECT_EQ(mended, 0u);
}

// It is where the thread comes from; here it only looks so.
TEST_P(ProgramMemoryTest, ThePageOfTheStackIsNotAskedAbout) {
  char byte = 0;
  ASSERT_EQ(::mprotect(pages_, 2 * kPage, PROT_NONE), 0);
  EXPECT_EQ(ProgramMemory(address_of(pages_ + kPage)).read(address_of(pages_ + kPage), &byte, 1), 0u);
  EXPECT_EQ(mended, 0u) << "an empty stack's pointer";
  EXPECT_EQ(ProgramMemory(address_of(pages_ + kPage)).read(address_of(pages_), &byte, 1), 0u);
  EXPECT_EQ(mended, GetParam() ? 1u : 0u);
}

TEST_P(ProgramMemoryTest, MorePagesThanAreRememberedAreReadInOneHit) {
  constexpr std::size_t kCount = 20;
  void* const mapped = ::mmap(nullptr, kCount * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const many = static_cast<char*>(mapped);
  ProgramMemory memory;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) {
      many[i * kPage] = static_cast<char>('a' + i);
      char found = 0;
      EXPECT_EQ(memory.read(address_of(many + i * kPage), &found, 1), 1u);
      EXPECT_EQ(found, static_cast<char>('a' + i));
    }
  }
  ::munmap(mapped, kCount * kPage);
}

TEST_P(ProgramMemoryTest, AThreadWithTheSignalBlockedReadsOnlyWhatIsThere) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  put(8, "there");
  EXPECT_EQ(read(pages_ + 8, 5), "there");
  EXPECT_EQ(read(pages_ + 2 * kPage, 5), "");
  EXPECT_EQ(read_text(pages_ + 2 * kPage + 7, 5), "none");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(mended, 0u);
}

TEST_P(ProgramMemoryTest, AThreadWithTheSignalBlockedOutlivesAPageThatGoes) {
  std::thread([this] {
    block_signals();
    put(8, "there");
    EXPECT_EQ(read(pages_ + 8, 5), "there");
    EXPECT_EQ(read_text(pages_ + 8, 5), "there");
    ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
    EXPECT_EQ(read(pages_ + 8, 5), "");
    EXPECT_EQ(read_text(pages_ + 8, 5), "none");
  }).join();
  EXPECT_EQ(mended, 0u);
}

TEST_P(ProgramMemoryTest, AThreadThatBlocksTheSignalLaterOutlivesAPageThatGoes) {
  std::thread([this] {
    put(8, "there");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(read(pages_ + 8, 5), "there");
    block_signals();
    let_pass_a_tick_and_some_hits();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(read(pages_ + 8, 5), "there");
    ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
    EXPECT_EQ(read(pages_ + 8, 5), "");
  }).join();
  EXPECT_EQ(mended, 0u);
}

// It is installed behind the back of whoever has set the guard.
TEST_P(ProgramMemoryTest, AProgramsOwnHandlerDoesNotSeeAPageThatGoes) {
  struct sigaction own {};
  struct sigaction usual {};
  own.sa_handler = [](int) { ::_exit(98); };
  for (const int signal : {SIGSEGV, SIGBUS}) {
    ASSERT_EQ(::sigaction(signal, &own, &usual), 0);
    std::thread([this] {
      put(8, "there");
      for (int i = 0; i < 3; ++i) EXPECT_EQ(read(pages_ + 8, 5), "there");
      ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
      EXPECT_EQ(read(pages_ + 8, 5), "");
      ASSERT_EQ(::mprotect(pages_, kPage, PROT_READ | PROT_WRITE), 0);
    }).join();
    ASSERT_EQ(::sigaction(signal, &usual, nullptr), 0);
  }
  EXPECT_EQ(mended, 0u);
}

std::atomic<unsigned> trapped = 0;

// The calling thread's.
void trap(unsigned call) {
  sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter = {static_cast<unsigned short>(std::size(code)), code};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

// One that is to kill would.
TEST_P(ProgramMemoryTest, WhereThereIsAFilterOfSystemCallsNobodyAsksForHandlers) {
  struct sigaction counting {};
  struct sigaction usual {};
  counting.sa_handler = [](int) { ++trapped; };
  ASSERT_EQ(::sigaction(SIGSYS, &counting, &usual), 0);
  std::thread([this] {
    static std::uint32_t filters = 0;
    put(8, "there");
    EXPECT_EQ(read(pages_ + 8, 5), "there");
    set_filters(&filters);
    ++filters;
    trap(SYS_rt_sigaction);
    for (int i = 0; i < 3; ++i) {
      let_pass_a_tick_and_some_hits();
      EXPECT_EQ(read(pages_ + 8, 5), "there");
      EXPECT_EQ(read_text(pages_ + 8, 5), "there");
    }
    ASSERT_EQ(::mprotect(pages_, kPage, PROT_NONE), 0);
    EXPECT_EQ(read(pages_ + 8, 5), "");
    EXPECT_EQ(trapped, 0u);
    ::syscall(SYS_rt_sigaction, SIGSEGV, nullptr, nullptr, 8);
    EXPECT_EQ(trapped, 1u) << "else nothing was counted";
    trapped = 0;
    filters = 0;
  }).join();
  EXPECT_EQ(mended, 0u);
  ASSERT_EQ(::sigaction(SIGSYS, &usual, nullptr), 0);
}

// What lies behind the end of a file is no memory: SIGBUS.
TEST_P(ProgramMemoryTest, AFileThatGetsShorterIsNoEnd) {
  const int file = ::memfd_create("file", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, kPage), 0);
  auto* const mapped = static_cast<char*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ASSERT_NE(mapped, MAP_FAILED);
  std::memcpy(mapped, "there", 5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(mapped, 5), "there");
  ASSERT_EQ(::ftruncate(file, 0), 0);
  EXPECT_EQ(read(mapped, 5), "");
  ::munmap(mapped, kPage);
  ::close(file);
}

TEST(LoadFaultTest, AnyOtherFaultIsNotMended) {
  std::int64_t pc = 0x1234;
  EXPECT_FALSE(mend_load_fault(&pc));
  EXPECT_EQ(pc, 0x1234);
}

}  // namespace
}  // namespace landtrace::plan
