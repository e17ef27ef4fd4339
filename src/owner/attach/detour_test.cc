#include "attach/detour.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

namespace landtrace::attach {
namespace {

struct Machine {
  std::uint64_t general[15];  // all but rsp
  std::uint64_t flags;
  std::uint64_t red_zone[16];
  alignas(16) std::uint8_t vectors[16][16];
};

}  // namespace

// Loads all registers from the first, jumps, and when it is back stores them into the second.
extern "C" void lt_test_detour(const Machine* before, Machine* after, std::uint64_t entry);
extern "C" void lt_test_detour_back();
asm(R"(
  .pushsection .bss
  .balign 8
lt_test_saved: .skip 32
  .popsection
  .text
  .globl lt_test_detour, lt_test_detour_back
lt_test_detour:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $136, %rsp
  movq %rsp, lt_test_saved(%rip)
  movq %rsi, lt_test_saved+8(%rip)
  movq %rdx, lt_test_saved+16(%rip)
  movq %rdi, %rax
  xorl %ecx, %ecx
1:
  movq 128(%rax,%rcx,8), %rdx
  movq %rdx, -128(%rsp,%rcx,8)
  incl %ecx
  cmpl $16, %ecx
  jne 1b
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps 256+16*\n(%rax), %xmm\n
  .endr
  movq 8(%rax), %rbx
  movq 16(%rax), %rcx
  movq 24(%rax), %rdx
  movq 32(%rax), %rsi
  movq 40(%rax), %rdi
  movq 48(%rax), %rbp
  movq 56(%rax), %r8
  movq 64(%rax), %r9
  movq 72(%rax), %r10
  movq 80(%rax), %r11
  movq 88(%rax), %r12
  movq 96(%rax), %r13
  movq 104(%rax), %r14
  movq 112(%rax), %r15
  movq 0(%rax), %rax
  stc
  jmp *lt_test_saved+16(%rip)
lt_test_detour_back:
  pushfq
  popq lt_test_saved+24(%rip)
  movq %rax, lt_test_saved+16(%rip)
  movq lt_test_saved+8(%rip), %rax
  movq %rbx, 8(%rax)
  movq %rcx, 16(%rax)
  movq %rdx, 24(%rax)
  movq %rsi, 32(%rax)
  movq %rdi, 40(%rax)
  movq %rbp, 48(%rax)
  movq %r8, 56(%rax)
  movq %r9, 64(%rax)
  movq %r10, 72(%rax)
  movq %r11, 80(%rax)
  movq %r12, 88(%rax)
  movq %r13, 96(%rax)
  movq %r14, 104(%rax)
  movq %r15, 112(%rax)
  movq lt_test_saved+16(%rip), %rcx
  movq %rcx, 0(%rax)
  movq lt_test_saved+24(%rip), %rcx
  movq %rcx, 120(%rax)
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps %xmm\n, 256+16*\n(%rax)
  .endr
  movq lt_test_saved(%rip), %rdx
  subq %rsp, %rdx
  movq %rdx, 128(%rax)
  movq lt_test_saved(%rip), %rsp
  xorl %ecx, %ecx
2:
  movq -128(%rsp,%rcx,8), %rdx
  cmpl $0, %ecx
  je 3f
  movq %rdx, 128(%rax,%rcx,8)
3:
  incl %ecx
  cmpl $15, %ecx
  jne 2b
  addq $136, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
)");

namespace {

std::atomic<int> threads_made = 0;
std::atomic<bool> were_signals_blocked = false;
int answer_of_create = 0;

// Uses what it likes of the machine, as libc's may.
int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  ++threads_made;
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  were_signals_blocked = sigismember(&set, SIGUSR1) == 1 && sigismember(&set, SIGTERM) == 1;
  errno = ENOMEM;
  asm volatile(
      "pcmpeqd %%xmm0, %%xmm0\n movaps %%xmm0, %%xmm7\n movaps %%xmm0, %%xmm15\n"
      "xorl %%r8d, %%r8d\n xorl %%r9d, %%r9d\n xorl %%r11d, %%r11d" ::
          : "xmm0", "xmm7", "xmm15", "r8", "r9", "r11");
  return answer_of_create != 0 ? answer_of_create : ::pthread_create(thread, attributes, start, argument);
}

class Detour : public testing::Test {
 protected:
  void SetUp() override {
    code_ = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(code_, MAP_FAILED);
    void* const hole = ::mmap(nullptr, kBlockBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::munmap(hole, kBlockBytes);
    block_ = static_cast<DetourBlock*>(hole);
    answer_of_create = 0;
    threads_made = 0;
  }
  void TearDown() override { ::munmap(code_, 4096); }

  void run(const std::string& agent) {
    const std::string bytes = make_detour(
        {{reinterpret_cast<std::uint64_t>(&create), reinterpret_cast<std::uint64_t>(&::pthread_detach),
          reinterpret_cast<std::uint64_t>(&::dlopen), reinterpret_cast<std::uint64_t>(&::dlsym),
          reinterpret_cast<std::uint64_t>(&::dlerror), reinterpret_cast<std::uint64_t>(&::__errno_location)},
         reinterpret_cast<std::uint64_t>(block_),
         agent,
         "socket"});
    EXPECT_TRUE(is_detour(bytes));
    std::memcpy(code_, bytes.data(), bytes.size());
    const auto back = reinterpret_cast<std::uint64_t>(&lt_test_detour_back);
    std::memcpy(static_cast<char*>(code_) + detour_way_back(), &back, sizeof back);
    for (std::size_t i = 0; i < 15; ++i) before_.general[i] = 0x1111111111111111 * (i + 1);
    for (std::size_t i = 0; i < 16; ++i) before_.red_zone[i] = 0xabcd000000000000 + i;
    for (std::size_t i = 0; i < 16; ++i) std::memset(before_.vectors[i], static_cast<int>(i + 1), 16);
    errno = EDOM;
    lt_test_detour(&before_, &after_, reinterpret_cast<std::uint64_t>(code_) + detour_entry());
    errno_ = errno;
  }
  void expect_unchanged() const {
    for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(after_.general[i], before_.general[i]) << i;
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::memcmp(after_.vectors[i], before_.vectors[i], 16), 0) << i;
    EXPECT_EQ(after_.red_zone[0], 0u) << "the stack pointer";
    for (std::size_t i = 1; i < 15; ++i) EXPECT_EQ(after_.red_zone[i], before_.red_zone[i]) << i;
    EXPECT_EQ(after_.flags & 1, 1u);
    EXPECT_EQ(errno_, EDOM);
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, nullptr, &set);
    EXPECT_EQ(sigismember(&set, SIGUSR1), 0);
  }
  void wait_for(const std::atomic_ref<std::uint32_t> word) {
    while (word == 0) std::this_thread::yield();
  }

  void* code_ = nullptr;
  DetourBlock* block_ = nullptr;
  Machine before_{};
  Machine after_{};
  int errno_ = 0;
};

TEST_F(Detour, LeavesTheThreadAsItWas) {
  run("/nonexistent/agent.so");
  expect_unchanged();
  EXPECT_EQ(threads_made, 1);
  EXPECT_TRUE(were_signals_blocked);
  EXPECT_EQ(block_->is_left, 1u);
  wait_for(std::atomic_ref<std::uint32_t>(reinterpret_cast<std::uint32_t&>(block_->state)));
  EXPECT_EQ(block_->state, DetourState::kNotLoaded);
  EXPECT_NE(std::string(block_->text).find("/nonexistent/agent.so"), std::string::npos) << block_->text;
  std::atomic_ref<std::uint32_t>(block_->acknowledged) = 1;
  // The thread takes the block away when that was read.
  unsigned char in_core;
  while (::mincore(block_, 4096, &in_core) == 0) std::this_thread::yield();
}

TEST_F(Detour, SaysThatThereIsNoThread) {
  answer_of_create = EAGAIN;
  run("agent");
  expect_unchanged();
  EXPECT_EQ(block_->created, EAGAIN);
  EXPECT_EQ(block_->is_left, 1u);
  ::munmap(block_, kBlockBytes);
}

TEST_F(Detour, DoesNothingWithoutMemory) {
  void* const taken = ::mmap(block_, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(taken, block_);
  run("agent");
  expect_unchanged();
  EXPECT_EQ(threads_made, 0);
  ::munmap(taken, 4096);
}

}  // namespace
}  // namespace landtrace::attach
