// Where domains are looked for, and whom they may belong to.
#include "ipc/path.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "ipc/socket.hpp"

namespace landtrace::ipc {
namespace {

// Nobody on this machine, so that nothing of theirs is anywhere.
// Each process has its own two: what users have in /tmp is the same for all tests, and some run at the same time.
const uid_t kSomebody = 1'000'000'000 + 2 * static_cast<uid_t>(::getpid());
const uid_t kAttacker = kSomebody + 1;

// What `question` says in a child that is this user; "" where that cannot be.
std::string asked_as(uid_t uid, const std::function<std::string()>& question) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    std::string answer;
    if (::setresgid(uid, uid, uid) == 0 && ::setresuid(uid, uid, uid) == 0) answer = question();
    std::ignore = ::write(ends[1], answer.data(), answer.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  char answer[4096];
  const ssize_t n = ::read(ends[0], answer, sizeof answer);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return {answer, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
}

class PathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to be several users";
    ::umask(022);
    std::string name = std::filesystem::temp_directory_path() / "landtrace-path-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* const part : {"", "/run", "/home"}) {
      ::mkdir((folder_ + part).c_str(), 0777);
      ::chmod((folder_ + part).c_str(), 0777);
    }
    ::setenv("XDG_RUNTIME_DIR", (folder_ + "/run").c_str(), 1);
    ::setenv("HOME", (folder_ + "/home").c_str(), 1);
    ::unsetenv(kSocketVariable);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void give(const std::string& path, uid_t uid, mode_t mode = 0711) {
    ::mkdir(path.c_str(), mode);
    ::chmod(path.c_str(), mode);
    ASSERT_EQ(::chown(path.c_str(), uid, uid), 0);
  }
  static std::string made() {
    const auto folder = runtime_folder();
    return folder ? *folder : "refused: " + folder.error().message;
  }
  std::string folder_;
};

TEST_F(PathTest, TheRuntimeFolderIsMadeAndFound) {
  const std::string wanted = folder_ + "/run/landtrace";
  EXPECT_EQ(asked_as(kSomebody, user_socket), wanted + "/domain.sock");
  EXPECT_EQ(asked_as(kSomebody, made), wanted);
  EXPECT_EQ(asked_as(kSomebody, made), wanted) << "it is there already";
  EXPECT_EQ(asked_as(kSomebody, user_socket), wanted + "/domain.sock");
}

TEST_F(PathTest, ADomainIsLookedForWhereItWillBeThoughALaterFolderIsThere) {
  const std::string tmp = "/tmp/landtrace-" + std::to_string(kSomebody);
  give(tmp, kSomebody);
  EXPECT_EQ(asked_as(kSomebody, user_socket), folder_ + "/run/landtrace/domain.sock");
  EXPECT_EQ(asked_as(kSomebody, made), folder_ + "/run/landtrace");
  std::filesystem::remove_all(tmp);
}

TEST_F(PathTest, AFolderOfAnotherUserIsPassedOver) {
  give(folder_ + "/run/landtrace", kAttacker, 0777);
  const std::string tmp = "/tmp/landtrace-" + std::to_string(kSomebody);
  EXPECT_EQ(asked_as(kSomebody, made), tmp);
  EXPECT_EQ(asked_as(kSomebody, user_socket), tmp + "/domain.sock");
  give(tmp, kAttacker, 0777);
  EXPECT_EQ(asked_as(kSomebody, made), folder_ + "/home/.landtrace");
  EXPECT_EQ(asked_as(kSomebody, user_socket), folder_ + "/home/.landtrace/domain.sock");
  std::filesystem::remove_all(tmp);
}

TEST_F(PathTest, SoIsOneThatOthersMayWriteTo) {
  give(folder_ + "/run/landtrace", kSomebody, 0777);
  EXPECT_NE(asked_as(kSomebody, user_socket), folder_ + "/run/landtrace/domain.sock");
}

TEST_F(PathTest, ARunningDomainOfRootsIsFoundInItsFolder) {
  give(folder_ + "/run/landtrace", 0);
  EXPECT_EQ(asked_as(kSomebody, user_socket), folder_ + "/run/landtrace/domain.sock");
  EXPECT_NE(asked_as(kSomebody, made), folder_ + "/run/landtrace") << "but nothing is made there";
  std::filesystem::remove_all("/tmp/landtrace-" + std::to_string(kSomebody));
}

TEST_F(PathTest, WhereOneCannotBeMadeTheNextOneIs) {
  ::chmod((folder_ + "/run").c_str(), 0555);
  const std::string tmp = "/tmp/landtrace-" + std::to_string(kSomebody);
  EXPECT_EQ(asked_as(kSomebody, made), tmp);
  std::filesystem::remove_all(tmp);
}

TEST_F(PathTest, RootAndWeOurselvesAreTrusted) {
  const auto trusts = [](std::int64_t uid) { return [uid] { return is_trusted(uid) ? "yes" : "no"; }; };
  EXPECT_EQ(asked_as(kSomebody, trusts(0)), "yes");
  EXPECT_EQ(asked_as(kSomebody, trusts(kSomebody)), "yes");
  EXPECT_EQ(asked_as(kSomebody, trusts(kAttacker)), "no");
  EXPECT_EQ(asked_as(kSomebody, trusts(-1)), "no");
  EXPECT_EQ(asked_as(65534, trusts(65534)), "yes");
}

// Every user who has no number in the namespace is 65534 there, and so are we.
TEST_F(PathTest, InAUserNamespaceNobodyIsTakenForUs) {
  const auto answer = asked_as(kSomebody, [] {
    if (::unshare(CLONE_NEWUSER) != 0) return "no namespaces";
    return is_trusted(::geteuid()) ? "yes" : "no";
  });
  if (answer == "no namespaces") GTEST_SKIP() << "SKIPPED: no user namespaces here";
  EXPECT_EQ(answer, "no");
}

// The one who has this number outside, too: in the namespace all others seem to be the same user.
constexpr uid_t kNobody = 65534;
std::string asked_as_nobody_in_namespace(const std::function<std::string()>& question) {
  return asked_as(kNobody, [&]() -> std::string {
    ::prctl(PR_SET_DUMPABLE, 1);  // or the file is root's
    if (::unshare(CLONE_NEWUSER) != 0) return "no namespaces";
    const Fd map(::open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC));
    const std::string line = std::to_string(kNobody) + " " + std::to_string(kNobody) + " 1";
    if (::write(map.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) return "no namespaces";
    return question();
  });
}

TEST_F(PathTest, WhereANumberDoesNotTellTheSystemSaysWhatIsOurs) {
  const std::string ours = folder_ + "/run/landtrace", foreign = folder_ + "/run/foreign";
  if (asked_as_nobody_in_namespace(made) == "no namespaces") GTEST_SKIP() << "SKIPPED: no user namespaces here";
  EXPECT_EQ(asked_as_nobody_in_namespace(made), ours);
  EXPECT_EQ(asked_as_nobody_in_namespace(user_socket), ours + "/domain.sock");
  const auto trusts_socket_in = [&](const std::string& folder) {
    const std::string path = folder + "/some.sock";
    return asked_as_nobody_in_namespace([&] { return is_trusted_socket(path.c_str()) ? "yes" : "no"; });
  };
  give(foreign, kAttacker);
  for (const std::string& folder : {ours, foreign}) {
    const std::string path = folder + "/some.sock";
    ASSERT_TRUE(listen_at(path));
    ASSERT_EQ(::chown(path.c_str(), kAttacker, kAttacker), 0);
  }
  EXPECT_EQ(trusts_socket_in(ours), "yes") << "nobody else can have put it there";
  EXPECT_EQ(trusts_socket_in(foreign), "no");
  ::chmod(ours.c_str(), 0777);
  EXPECT_EQ(trusts_socket_in(ours), "no");
  give(ours, kAttacker);
  EXPECT_NE(asked_as_nobody_in_namespace(made), ours);
  std::filesystem::remove_all("/tmp/landtrace-" + std::to_string(kNobody));
}

TEST_F(PathTest, WhereANumberDoesNotTellWhoServesIsOursIfWeMaySignalThem) {
  const std::string path = folder_ + "/run/some.sock";
  const auto trusts_peer = [&]() -> std::string {
    const int fd = connect_plain(path.c_str(), true);
    return fd >= 0 && is_trusted_peer(fd) ? "yes" : "no";
  };
  const auto listener = listen_at(path);
  ASSERT_TRUE(listener);
  EXPECT_EQ(asked_as(kNobody, trusts_peer), "yes") << "root's";
  if (asked_as_nobody_in_namespace([] { return "yes"; }) != "yes") GTEST_SKIP() << "SKIPPED: no user namespaces here";
  EXPECT_EQ(asked_as_nobody_in_namespace(trusts_peer), "no") << "root's seem to be anybody's";
  const auto served_by_us = asked_as_nobody_in_namespace([&]() -> std::string {
    const auto own = listen_at(folder_ + "/run/own.sock");
    const int fd = own ? connect_plain((folder_ + "/run/own.sock").c_str(), true) : -1;
    return fd >= 0 && is_trusted_peer(fd) ? "yes" : "no";
  });
  EXPECT_EQ(served_by_us, "yes");
}

TEST_F(PathTest, ASocketIsJudgedByWhoseItIs) {
  give(folder_ + "/run/landtrace", 0);
  const std::string path = folder_ + "/run/landtrace/domain.sock";
  EXPECT_TRUE(is_trusted_socket(path.c_str())) << "there is none";
  const auto listener = listen_at(path);
  ASSERT_TRUE(listener);
  const auto is_ours = [&] { return is_trusted_socket(path.c_str()) ? "yes" : "no"; };
  EXPECT_EQ(asked_as(kSomebody, is_ours), "yes");
  ASSERT_EQ(::chown(path.c_str(), kAttacker, kAttacker), 0);
  EXPECT_EQ(asked_as(kSomebody, is_ours), "no");
}

}  // namespace
}  // namespace landtrace::ipc
