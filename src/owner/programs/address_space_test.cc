#include "programs/address_space.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <thread>

#include "programs/test_child.hpp"
#include "programs/test_client.hpp"
#include "programs/test_self.hpp"

namespace landtrace::programs {
namespace {

constexpr std::size_t kPage = 4096;

// Memory that the test and its child have together.
std::uint64_t* map_shared(int protection) {
  void* const page = ::mmap(nullptr, kPage, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(page, MAP_FAILED);
  return static_cast<std::uint64_t*>(page);
}

// The two ways to touch memory: of a client with the owner's rights, and of one with fewer; which is also that of a
// system without process_vm_readv.
enum class Client { kMe, kAnother, kMeWithoutTheCalls };

// The calling thread has no process_vm_readv and no process_vm_writev any more.
void lose_the_calls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

class AddressSpaceTest : public testing::TestWithParam<Client> {
 protected:
  void SetUp() override {
    const bool nobodys = GetParam() == Client::kAnother;
    if (nobodys && ::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to act as another user";
    child_.emplace([&] {
      if (nobodys) become_user(kNobody.uid);
    });
    const auto open = [&] {
      if (GetParam() == Client::kMeWithoutTheCalls) lose_the_calls();
      auto space = AddressSpace::open(child_->pid(), nobodys ? kNobody : myself());
      ASSERT_TRUE(space) << space.error().message;
      space_ = *space;
    };
    std::thread(open).join();
    ASSERT_NE(space_, nullptr);
    EXPECT_EQ(static_cast<bool>(space_->maps), GetParam() != Client::kMe);
  }
  void TearDown() override {
    for (void* const page : {word_, read_only_, closed_}) ::munmap(page, kPage);
  }
  static EnableBit bit(const std::uint64_t* word, std::uint8_t number) { return {address_of(word), number}; }

  std::uint64_t* word_ = map_shared(PROT_READ | PROT_WRITE);
  std::uint64_t* read_only_ = map_shared(PROT_READ);
  std::uint64_t* closed_ = map_shared(PROT_NONE);
  const AddressSpace::Cancelled no_ = false, yes_ = true;
  std::optional<TestChild> child_;
  std::shared_ptr<AddressSpace> space_;
};

INSTANTIATE_TEST_SUITE_P(, AddressSpaceTest, testing::Values(Client::kMe, Client::kAnother, Client::kMeWithoutTheCalls),
                         [](const auto& client) {
                           if (client.param == Client::kMe) return "OfAClientWithTheSameRights";
                           return client.param == Client::kAnother ? "OfAClientWithFewerRights" : "WithoutTheCalls";
                         });

TEST_P(AddressSpaceTest, BytesAreReadAndWrittenAsTheProcessCould) {
  *word_ = 0x1122334455667788;
  std::uint32_t part = 0;
  EXPECT_TRUE(space_->read(address_of(word_) + 2, &part, sizeof part));
  EXPECT_EQ(part, 0x33445566u);
  const std::array<std::byte, 2> bytes{std::byte{0xab}, std::byte{0xcd}};
  EXPECT_TRUE(space_->write(address_of(word_) + 1, bytes));
  EXPECT_EQ(*word_, 0x1122334455cdab88u);
  EXPECT_TRUE(space_->read(address_of(read_only_), &part, sizeof part));
}

TEST_P(AddressSpaceTest, WhatTheProcessCouldNotDoIsRefused) {
  std::uint64_t word = 0;
  const std::array<std::byte, 4> bytes{};
  EXPECT_FALSE(space_->write(address_of(read_only_), bytes));
  EXPECT_FALSE(space_->read(address_of(closed_), &word, sizeof word));
  EXPECT_FALSE(space_->write(address_of(closed_), bytes));
  EXPECT_FALSE(space_->read(0, &word, sizeof word));
  EXPECT_EQ(space_->set_as_the_process_would(bit(read_only_, 0), true, no_), EFAULT);
  EXPECT_EQ(space_->set_as_the_process_would(bit(closed_, 0), true, no_), EFAULT);
  EXPECT_EQ(*read_only_, 0u);
}

TEST_P(AddressSpaceTest, OneBitOfAWordChangesAndNoOther) {
  constexpr std::uint64_t kPattern = 0xf0f0f0f0f0f0f0f0;
  for (const std::uint8_t number : std::initializer_list<std::uint8_t>{0, 3, 8, 31, 32, 63}) {
    const std::uint64_t mask = 1ull << number;
    *word_ = kPattern;
    EXPECT_EQ(space_->set_as_the_process_would(bit(word_, number), true, no_), 0);
    EXPECT_EQ(*word_, kPattern | mask) << int{number};
    EXPECT_EQ(space_->set_as_the_process_would(bit(word_, number), false, no_), 0);
    EXPECT_EQ(*word_, kPattern & ~mask) << int{number};
    EXPECT_EQ(space_->set(bit(word_, number), true, no_), 0);
    EXPECT_EQ(*word_, (kPattern & ~mask) | mask) << int{number};
    EXPECT_EQ(space_->set(bit(word_, number), false, no_), 0);
    EXPECT_EQ(*word_, kPattern & ~mask) << int{number};
  }
}

TEST_P(AddressSpaceTest, NothingIsWrittenOnceItIsCancelled) {
  *word_ = 1;
  EXPECT_EQ(space_->set_as_the_process_would(bit(word_, 1), true, yes_), ECANCELED);
  EXPECT_EQ(space_->set(bit(word_, 1), true, yes_), ECANCELED);
  EXPECT_EQ(*word_, 1u);
  EXPECT_EQ(space_->set(bit(word_, 0), true, yes_), 0) << "there is nothing to be written";
}

TEST_P(AddressSpaceTest, AProcessThatHasEndedHasNoMemory) {
  std::uint64_t word = 0;
  EXPECT_TRUE(space_->is_alive());
  child_->end();
  EXPECT_FALSE(space_->is_alive());
  EXPECT_FALSE(space_->read(address_of(word_), &word, sizeof word));
  EXPECT_FALSE(space_->write(address_of(word_), std::as_bytes(std::span(&word, 1))));
  EXPECT_EQ(space_->set(bit(word_, 0), true, no_), EFAULT);
  EXPECT_EQ(space_->set_as_the_process_would(bit(word_, 0), true, no_), EFAULT);
}

TEST(AddressSpacesTest, TheMemoryIsThatOfTheProgramUntilItCallsExec) {
  TestClient client;
  const auto space = *AddressSpace::open(client.pid(), myself());
  EXPECT_NE(space->identity, 0u);
  EXPECT_EQ(space->pid, client.pid());
  EXPECT_TRUE(space->is_alive());
  client.become("exec");
  EXPECT_FALSE(space->is_alive());
  const auto next = *AddressSpace::open(client.pid(), myself());
  EXPECT_TRUE(next->is_alive());
  EXPECT_NE(next->identity, space->identity);
}

TEST(AddressSpacesTest, OnlyWhatTheClientMayTouchIsOpened) {
  EXPECT_EQ(AddressSpace::open(0x7fffffff, myself()).error().code, ENOENT);
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to act as another user";
  const TestChild nobodys([] { become_user(kNobody.uid); });
  EXPECT_TRUE(AddressSpace::open(nobodys.pid(), kNobody));
  EXPECT_EQ(AddressSpace::open(nobodys.pid(), {65533, 65533}).error().code, EACCES);
  EXPECT_EQ(AddressSpace::open(static_cast<std::uint32_t>(::getpid()), kNobody).error().code, EACCES);
}

}  // namespace
}  // namespace landtrace::programs
