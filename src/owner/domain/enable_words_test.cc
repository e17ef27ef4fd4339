// Words in other processes' memory: whose they may be, and what happens where the memory does not answer.
#include "domain/enable_words.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "domain/domain.hpp"

namespace landtrace::domain {
namespace {

constexpr Identity kNobody{65534, 65534};
constexpr std::size_t kPage = 4096;

Identity myself() { return {::geteuid(), ::getegid()}; }
std::uint32_t my_pid() { return static_cast<std::uint32_t>(::getpid()); }
EnableBit bit_at(const void* at) { return {reinterpret_cast<std::uint64_t>(at), 0}; }

std::uint32_t* map_page(int protection, int flags = MAP_PRIVATE) {
  void* const page = ::mmap(nullptr, kPage, protection, flags | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<std::uint32_t*>(page);
}

// A process of user nobody, which becomes `sleep` when it is told to.
class NobodysProcess {
 public:
  NobodysProcess() {
    int ready[2];
    if (::pipe(ready) != 0 || ::pipe(go_) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::setgid(kNobody.gid) != 0 || ::setuid(kNobody.uid) != 0) ::_exit(90);
      ::prctl(PR_SET_DUMPABLE, 1);  // as a program is that was started by this user
      char byte = 'x';
      if (::write(ready[1], &byte, 1) != 1 || ::read(go_[0], &byte, 1) != 1) ::_exit(91);
      ::fcntl(ready[1], F_SETFD, FD_CLOEXEC);
      ::execlp("sleep", "sleep", "100", nullptr);
      ::_exit(92);
    }
    char byte;
    ::close(ready[1]);
    started_ = ::read(ready[0], &byte, 1) == 1;
    ended_ = Fd(ready[0]);
  }
  ~NobodysProcess() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    ::close(go_[0]), ::close(go_[1]);
  }
  void exec() {
    char byte = 'x';
    EXPECT_EQ(::write(go_[1], &byte, 1), 1);
    EXPECT_EQ(::read(ended_.get(), &byte, 1), 0);  // closed by the exec
  }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  pid_t pid_ = -1;
  int go_[2] = {-1, -1};
  Fd ended_;
  bool started_ = false;
};

TEST(ForeignMemoryTest, ARootOwnerTouchesForAClientOnlyWhatThatClientMay) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to act as another user";
  programs::ForeignMemory memory;
  EXPECT_FALSE(memory.open(my_pid(), kNobody));
  EXPECT_TRUE(memory.open(my_pid(), myself())) << "the thread has root's rights again";
  NobodysProcess process;
  ASSERT_TRUE(process.started());
  EXPECT_TRUE(memory.open(process.pid(), kNobody));
  EXPECT_FALSE(memory.open(process.pid(), {65533, 65533}));
}

TEST(ForeignMemoryTest, AnotherUsersWordIsWrittenWhereTheProcessCouldWriteIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to act as another user";
  auto* const shared = map_page(PROT_READ | PROT_WRITE, MAP_SHARED);
  auto* const read_only = map_page(PROT_READ);
  NobodysProcess process;
  programs::ForeignMemory memory;
  const auto space = memory.open(process.pid(), kNobody);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_TRUE(memory.check_and_set(*space, bit_at(shared), true));
  EXPECT_EQ(*shared, 1u);
  EXPECT_EQ(memory.check_and_set(*space, bit_at(read_only), true).error().code, EFAULT);
  process.exec();
  EXPECT_FALSE((*space)->is_alive());
  EXPECT_FALSE(memory.check_and_set(*space, bit_at(shared), false)) << "the old memory is gone, the new is not ours";
}

TEST(ForeignMemoryTest, APageThatDoesNotAnswerIsWaitedForOnce) {
  const int uffd = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC));
  if (uffd < 0) GTEST_SKIP() << "SKIPPED: no userfaultfd here";
  auto* const silent = map_page(PROT_READ | PROT_WRITE);
  std::uint32_t word = 0;
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  ASSERT_EQ(::ioctl(uffd, UFFDIO_API, &api), 0);
  uffdio_register range{
      .range = {reinterpret_cast<std::uint64_t>(silent), kPage}, .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
  ASSERT_EQ(::ioctl(uffd, UFFDIO_REGISTER, &range), 0);

  programs::ForeignMemory memory;
  const auto hung = *memory.open(my_pid(), myself());
  const auto well = *memory.open(my_pid(), myself());
  EXPECT_EQ(memory.check_and_set(hung, bit_at(silent), true).error().code, EFAULT);
  EXPECT_TRUE(hung->unresponsive);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(memory.check_and_set(hung, bit_at(silent), true).error().code, EFAULT);
  memory.set_all({{hung, bit_at(silent), true}, {well, bit_at(&word), true}});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  EXPECT_EQ(word, 1u) << "other memory is served on";
  ::close(uffd);  // lets the thread that was left behind go
}

class WordsTest : public testing::Test {
 protected:
  Result<std::uint32_t> register_word(const void* at, const char* text = "e1") {
    const auto file = domain_->open_file(myself().uid);
    return domain_->register_for_file(*file, my_pid(), myself(), {text, 0, bit_at(at), 4});
  }
  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
};

TEST_F(WordsTest, UnregisteringAWordThatIsGoneSaysSoAndUnregisters) {
  auto* const page = map_page(PROT_READ | PROT_WRITE);
  ASSERT_TRUE(register_word(page));
  ::munmap(page, kPage);
  EXPECT_EQ(domain_->unregister(my_pid(), myself(), bit_at(page)).error().code, EFAULT);
  EXPECT_EQ(domain_->unregister(my_pid(), myself(), bit_at(page)).error().code, ENOENT);
}

TEST_F(WordsTest, OnlyTheSameUserForksAProcess) {
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  const Identity other{myself().uid + 1, myself().gid};
  EXPECT_EQ(domain_->forked(my_pid(), 1, other).error().code, EPERM);
  EXPECT_EQ(domain_->enable_words().expect_child(my_pid(), other).error().code, EPERM);
  EXPECT_TRUE(domain_->enable_words().expect_child(my_pid(), myself()));
}

}  // namespace
}  // namespace landtrace::domain
