// Requests whose structures lie in another process's memory, and what becomes of its children.
#include "domain/data_call.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "programs/test_client.hpp"
#include "programs/test_silent_page.hpp"

namespace landtrace::domain {
namespace {

using programs::ProcessEvents;
using programs::SilentPage;
using programs::TestClient;

constexpr unsigned kRegister = 0xc0082a00, kUnregister = 0x40082a02, kDelete = 0x40082a01, kRegisterPlain = 0x40082a00;
constexpr std::uint32_t kNobody = 65534;

class DataCallTest : public testing::Test {
 protected:
  int request(unsigned command, std::uint32_t tid, std::uint64_t argument, Identity who = {::geteuid(), ::getegid()}) {
    const auto result = data_request(*domain_, file_, tid, who, command, argument);
    return result ? *result : -result.error().code;
  }
  int ask_for(TestClient& client, const std::string& name, std::uint32_t uid = ::geteuid()) {
    return request(kRegister, client.pid(), client.ask("reg " + name), {uid, uid});
  }
  int unregister(TestClient& client) { return request(kUnregister, client.pid(), client.ask("unreg")); }
  void listen(bool on) {
    const auto alone = domain_->enter();
    ASSERT_TRUE(domain_->listening().set(domain_->top(), domain_->events().all(), on));
  }
  bool exists(std::string_view name) {
    const auto alone = domain_->enter();
    return domain_->events().find(kSystem, name) != nullptr;
  }

  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
  FileId file_ = *domain_->registrar().open_file(::geteuid());
};

TEST_F(DataCallTest, AnotherProcessesStructureIsReadAndAnswered) {
  TestClient client;
  ASSERT_EQ(ask_for(client, "e1 u32 x"), 0);
  ASSERT_TRUE(exists("e1"));
  EXPECT_EQ(client.ask("index"), 0u);
  EXPECT_EQ(ask_for(client, "e2"), -EADDRINUSE) << "the same word";
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
  EXPECT_EQ(unregister(client), 0);
  EXPECT_EQ(client.ask("word"), 0u);
  EXPECT_EQ(unregister(client), -ENOENT);
}

TEST_F(DataCallTest, AThreadsRequestIsItsProcesss) {
  std::uint32_t word = 0;
  abi::UserReg reg{28, 0, 4, 0, reinterpret_cast<std::uint64_t>(&word), reinterpret_cast<std::uint64_t>("e1"), 9};
  std::thread([&] {
    const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    EXPECT_EQ(request(kRegister, tid, reinterpret_cast<std::uint64_t>(&reg)), 0);
  }).join();
  EXPECT_EQ(reg.write_index, 0u);
  EXPECT_TRUE(domain_->enable_words().has_process(static_cast<std::uint32_t>(::getpid())));
}

TEST_F(DataCallTest, AnAnswerThatCannotBeWrittenUndoesNothing) {
  TestClient client;
  client.ask("reg e1");
  EXPECT_EQ(request(kRegister, client.pid(), client.ask("protect")), 0);
  EXPECT_TRUE(exists("e1"));
  EXPECT_EQ(request(kRegister, client.pid(), client.ask("hide")), -EFAULT);
  EXPECT_EQ(request(kRegister, client.pid(), 0), -EFAULT);
  EXPECT_EQ(request(0xc0082a03, client.pid(), 0), -ENOTTY);
  EXPECT_EQ(request(kRegister, 0, 0), -EPERM) << "a caller in another pid namespace";
}

TEST_F(DataCallTest, AGuestOfRootGetsTheSameAnswers) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  TestClient client({.uid = kNobody});
  ASSERT_EQ(ask_for(client, "e1 u32 x", kNobody), 0);
  EXPECT_EQ(client.ask("index"), 0u);
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
  const std::uint64_t read_only = client.ask("protect");
  EXPECT_EQ(request(kRegister, client.pid(), read_only, {kNobody, kNobody}), -EADDRINUSE);
  EXPECT_EQ(request(kRegister, client.pid(), client.ask("hide"), {kNobody, kNobody}), -EFAULT);
  EXPECT_EQ(request(kRegister, client.pid(), read_only, {65533, 65533}), -EPERM) << "not that user's process";
  const auto me = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(request(kRegister, me, read_only, {kNobody, kNobody}), -EACCES) << "nor is root's";
}

TEST_F(DataCallTest, GuestsMayDoWhatTheyMayOverTheSocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  const char mine[] = "mine";
  const auto me = static_cast<std::uint32_t>(::getpid());
  ASSERT_EQ(request(kRegisterPlain, me, reinterpret_cast<std::uint64_t>(mine)), 1);
  domain_->files().close(file_);
  file_ = *domain_->registrar().open_file(kNobody);
  TestClient client({.uid = kNobody});
  const std::uint64_t reg = client.ask("reg mine");
  const Identity nobody{kNobody, kNobody};
  constexpr std::uint64_t kNameAt = 16;
  std::uint64_t name = 0;
  const Fd mem(::open(("/proc/" + std::to_string(client.pid()) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::pread(mem.get(), &name, sizeof name, static_cast<off_t>(reg + kNameAt)), 8);
  EXPECT_EQ(request(kDelete, client.pid(), name, nobody), -EPERM) << "another user's event";
  const std::uint16_t persist = 1;
  ASSERT_EQ(::pwrite(mem.get(), &persist, sizeof persist, static_cast<off_t>(reg + 6)), 2);
  EXPECT_EQ(request(kRegister, client.pid(), reg, nobody), -EPERM) << "guests' events do not stay";
  EXPECT_EQ(request(kDelete, me, reinterpret_cast<std::uint64_t>(mine)), 0);
  domain_->files().close(file_);
  EXPECT_EQ(request(kDelete, me, reinterpret_cast<std::uint64_t>(mine)), -EBADF) << "the file is closed";
}

TEST_F(DataCallTest, MemoryThatTakesItsTimeHoldsUpNobodyElse) {
  const SilentPage structure, word;
  if (!structure.is_there()) GTEST_SKIP() << "SKIPPED: no userfaultfd here";
  const auto me = static_cast<std::uint32_t>(::getpid());
  abi::UserReg reg{28, 0, 4, 0, word.address(), reinterpret_cast<std::uint64_t>("slow"), 9};
  int result = 1;
  std::thread slow([&] { result = request(kRegister, me, structure.address()); });
  structure.wait_until_touched();
  TestClient other;
  EXPECT_EQ(ask_for(other, "e1"), 0);
  structure.answer_with(&reg, sizeof reg);
  word.wait_until_touched();
  EXPECT_EQ(ask_for(other, "e2"), -EADDRINUSE);
  listen(true);
  EXPECT_EQ(other.ask("word"), 1u);
  EXPECT_FALSE(exists("slow"));
  word.answer_with("", 1);
  slow.join();
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(exists("slow"));
}

TEST_F(DataCallTest, PlainWritesComeFromADeclarationAlone) {
  const auto me = static_cast<std::uint32_t>(::getpid());
  const char first[] = "e1 u32 x", second[] = "e2", bad[] = "e3 nonsense";
  EXPECT_EQ(request(kRegisterPlain, me, reinterpret_cast<std::uint64_t>(first)), 1);
  EXPECT_EQ(request(kRegisterPlain, me, reinterpret_cast<std::uint64_t>(second)), 2);
  EXPECT_EQ(request(kRegisterPlain, me, reinterpret_cast<std::uint64_t>(bad)), -EINVAL);
  EXPECT_EQ(request(kDelete, me, reinterpret_cast<std::uint64_t>(second)), -EBUSY);
}

// How many subscriptions to the kernel's events of processes this process has.
int subscriptions() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    int domain = 0, protocol = 0;
    socklen_t size = sizeof domain;
    if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_NETLINK) continue;
    if (::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == NETLINK_CONNECTOR) ++count;
  }
  return count;
}

// How forks become known: the kernel tells, or (in a network namespace, where it does not) all processes are looked at.
enum class Mode { kTold, kLooking };

class ForksTest : public DataCallTest, public testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override {
    if (GetParam() == Mode::kTold) {
      if (!ProcessEvents::subscribe()) GTEST_SKIP() << "SKIPPED: process events are not told here";
      return;
    }
    own_ = Fd(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "SKIPPED: needs the right to make a network namespace";
  }
  void TearDown() override {
    if (own_) ::setns(own_.get(), CLONE_NEWNET);
  }
  void begin(TestClient& client) {
    ASSERT_EQ(ask_for(client, "e1"), 0);
    ASSERT_EQ(subscriptions(), GetParam() == Mode::kTold ? 1 : 0);
  }
  Fd own_;
};

INSTANTIATE_TEST_SUITE_P(, ForksTest, testing::Values(Mode::kTold, Mode::kLooking),
                         [](const auto& mode) { return mode.param == Mode::kTold ? "Told" : "Looking"; });

TEST_P(ForksTest, AChildHasItsParentsWordsFromTheFirstMomentOn) {
  const pid_t churn = ::fork();  // others come and go meanwhile
  if (churn == 0) {
    ::execl("/bin/sh", "sh", "-c", "while :; do /bin/true; done", nullptr);
    ::_exit(1);
  }
  TestClient client;
  begin(client);
  const std::uint32_t parent = client.pid();
  for (int round = 0; round < 250; ++round) {
    client.become("fork");
    listen(true);
    ASSERT_EQ(client.ask("word"), 1u) << round;
    listen(false);
    ASSERT_EQ(client.ask("word"), 0u) << round;
    client.quit_to(parent);
    ASSERT_EQ(client.ask("word"), 0u) << round;
  }
  ::kill(churn, SIGKILL);
  ::waitpid(churn, nullptr, 0);
}

TEST_P(ForksTest, AGrandchildHasThemTooWhoseParentIsGone) {
  TestClient client;
  begin(client);
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t parent = client.pid();
    client.become("orphan");
    listen(i % 2 == 0);
    ASSERT_EQ(client.ask("word"), i % 2 == 0 ? 1u : 0u) << i;
    client.quit_to(parent);
    ASSERT_EQ(client.ask("word"), i % 2 == 0 ? 1u : 0u) << i;
  }
}

TEST_P(ForksTest, WordsOutliveTheProcessThatRegisteredThem) {
  TestClient client;
  begin(client);
  domain_->files().close(file_);
  client.become("leave");
  domain_->maintain();
  ASSERT_TRUE(exists("e1")) << "the child's word keeps it";
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
  listen(false);
  file_ = *domain_->registrar().open_file(::geteuid());
  EXPECT_EQ(unregister(client), 0) << "the child has a registration of its own";
  EXPECT_FALSE(exists("e1"));
}

TEST_P(ForksTest, EachUnregistersItsOwnWord) {
  TestClient client;
  begin(client);
  const std::uint32_t parent = client.pid();
  client.become("fork");
  ASSERT_EQ(unregister(client), 0);
  listen(true);
  EXPECT_EQ(client.ask("word"), 0u);
  client.quit_to(parent);
  EXPECT_EQ(client.ask("word"), 1u);
  EXPECT_EQ(unregister(client), 0);
  client.become("fork");
  listen(false);
  listen(true);
  EXPECT_EQ(client.ask("word"), 0u) << "forked from a process without words";
}

TEST_P(ForksTest, AnotherProgramHasNoneEvenAtTheSameAddresses) {
  TestClient client({.random_addresses = false});
  begin(client);
  const std::uint32_t parent = client.pid();
  const std::uint64_t at = client.ask("at");
  for (int i = 0; i < 20; ++i) {
    client.become("fork");
    client.become("exec");
    ASSERT_EQ(client.ask("at"), at);
    listen(true);
    ASSERT_EQ(client.ask("word"), 0u) << "a fork before exec is no fork";
    client.quit_to(parent);
    ASSERT_EQ(client.ask("word"), 1u);
    listen(false);
  }
  client.become("exec");
  listen(true);
  EXPECT_EQ(client.ask("word"), 0u);
}

TEST_P(ForksTest, AVforkChildSharesItsParentsMemory) {
  TestClient client({.random_addresses = false});
  begin(client);
  const std::uint32_t parent = client.pid();
  client.become("vfork");
  listen(true);
  EXPECT_EQ(client.ask("word"), 0u);
  client.quit_to(parent);
  ASSERT_EQ(client.ask("word"), 1u);
  ASSERT_EQ(unregister(client), 0);
  listen(false);
  listen(true);
  EXPECT_EQ(client.ask("word"), 0u) << "nobody else has this memory's word";
}

TEST_P(ForksTest, WhoeverAnnouncesItselfIsNotCountedTwice) {
  TestClient client;
  begin(client);
  const Identity me{::geteuid(), ::getegid()};
  const std::uint32_t parent = client.pid();
  client.become("fork");
  ASSERT_TRUE(domain_->enable_words().duplicate(parent, client.pid(), me));
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
  ASSERT_TRUE(domain_->enable_words().duplicate(parent, client.pid(), me));
  listen(false);
  domain_->files().close(file_);
  file_ = *domain_->registrar().open_file(me.uid);
  ASSERT_EQ(unregister(client), 0);
  client.quit_to(parent);
  ASSERT_EQ(unregister(client), 0);
  EXPECT_FALSE(exists("e1")) << "both registrations are gone";
}

TEST_P(ForksTest, TheSubscriptionEndsWithTheLastWhoNeedsIt) {
  {
    TestClient client;
    begin(client);
    client.become("fork");
    listen(true);
  }
  domain_->maintain();
  EXPECT_EQ(subscriptions(), 0);
}

// Without the right to a buffer of any size.
class WithoutNetAdmin {
 public:
  WithoutNetAdmin() {
    ::syscall(SYS_capget, &header_, before_);
    __user_cap_data_struct less[2] = {before_[0], before_[1]};
    less[0].effective &= ~(1u << CAP_NET_ADMIN);
    ::syscall(SYS_capset, &header_, less);
  }
  ~WithoutNetAdmin() { ::syscall(SYS_capset, &header_, before_); }
  WithoutNetAdmin(const WithoutNetAdmin&) = delete;
  WithoutNetAdmin& operator=(const WithoutNetAdmin&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2]{};
};

TEST_F(DataCallTest, AForkThatWasNotHeardOfIsFoundByLooking) {
  const WithoutNetAdmin small_buffer;
  TestClient client, other;
  ASSERT_EQ(ask_for(client, "e1"), 0);
  if (subscriptions() == 0) GTEST_SKIP() << "SKIPPED: process events are not told here";
  auto witness = ProcessEvents::subscribe();  // its buffer is as small
  ASSERT_TRUE(witness);
  bool lost = false;
  const std::uint32_t parent = client.pid();
  for (int storms = 0; storms < 10 && !lost; ++storms) {
    other.ask("storm 20000");
    client.become("fork");
    witness->drain(lost);
    listen(true);
    EXPECT_EQ(client.ask("word"), 1u);
    listen(false);
    client.quit_to(parent);
    EXPECT_EQ(client.ask("word"), 0u);
  }
  EXPECT_TRUE(lost) << "there is more room than was thought";
}

}  // namespace
}  // namespace landtrace::domain
