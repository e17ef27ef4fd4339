#include "fuse/session.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <atomic>

#include "fuse/test_mount.hpp"
#include "rules/selection.hpp"

namespace landtrace::fuse::test {
namespace {

class SessionTest : public MountTest {
 protected:
  // A listener and the enable word of an event with one u32; what its writes need.
  struct Registered {
    Fd file;
    std::uint32_t index = 0;
  };
  Registered registered() {
    Registered made{open("data", O_RDWR), 0};
    EXPECT_TRUE(made.file) << errno_text(errno);
    change([&] {
      const auto index = domain_->registrar().register_for_file(
          tree_->data->last, static_cast<std::uint32_t>(::getpid()), {::geteuid(), ::getegid()},
          {"an_event u32 value", 0, {reinterpret_cast<std::uintptr_t>(&word_), 0}, sizeof word_});
      ASSERT_TRUE(index) << index.error().message;
      made.index = *index;
    });
    return made;
  }
  void listen(bool on) {
    change([&] { ASSERT_TRUE(rules_->selections().listen(domain_->top(), *Pattern::parse("an_event"), on)); });
  }
  using Pattern = event::Pattern;
  std::uint32_t word_ = 0;
};

TEST_F(SessionTest, ShowsItselfAsATracefsOfFuse) {
  serve();
  const auto mounts = read_file("/proc/self/mounts");
  ASSERT_TRUE(mounts);
  EXPECT_THAT(*mounts, ::testing::HasSubstr("landtrace " + folder_ + " fuse.tracefs rw,nosuid,nodev,noexec"));
}

TEST_F(SessionTest, EndsWhenItIsUnmounted) {
  serve();
  EXPECT_FALSE(session_->has_ended());
  ASSERT_TRUE(unmount(folder_));
  EXPECT_TRUE(becomes_true([&] { return session_->has_ended(); }));
  EXPECT_FALSE(unmount(folder_));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(SessionTest, FilesThatAreOpenStayUsableAfterUnmounting) {
  serve();
  Fd file = open("notebook", O_RDWR);
  ASSERT_TRUE(unmount(folder_));
  EXPECT_FALSE(std::filesystem::exists(at("notebook")));
  EXPECT_EQ(write_some(file.get(), "still there"), 0);
  EXPECT_EQ(tree_->notebook->kept, "still there");
  EXPECT_FALSE(session_->has_ended());
  file.reset();
  EXPECT_TRUE(becomes_true([&] { return session_->has_ended(); }));
}

TEST_F(SessionTest, ReadersThatWaitGetAnAnswerWhenItGoes) {
  serve();
  const Fd file = open("pipe", O_RDONLY);
  std::string got;
  std::thread reader([&] { got = read_some(file.get()); });
  ASSERT_TRUE(becomes_true([&] { return tree_->pipe->reads > 0; }));
  session_.reset();
  reader.join();
  EXPECT_EQ(got, "errno: " + errno_text(ENOTCONN));
  EXPECT_EQ(read_some(file.get()), "errno: " + errno_text(ENOTCONN));
}

TEST_F(SessionTest, UnmountingByForceEndsItWithReadersWaiting) {
  serve();
  const Fd file = open("pipe", O_RDONLY);
  std::thread reader([&] { EXPECT_THAT(read_some(file.get()), ::testing::StartsWith("errno: ")); });
  EXPECT_TRUE(becomes_true([&] { return tree_->pipe->reads > 0; }));
  if (::umount2(folder_.c_str(), MNT_FORCE) != 0) (void)::umount2(folder_.c_str(), MNT_DETACH | MNT_FORCE);
  EXPECT_TRUE(becomes_true([&] { return session_->has_ended(); }));
  reader.join();
}

TEST_F(SessionTest, IsReplacedOnAMountPointThatItsOwnerLeft) {
  serve();
  const Fd old = open("notebook", O_RDWR);
  session_.reset();
  EXPECT_EQ(::access(folder_.c_str(), F_OK), -1);
  EXPECT_EQ(errno, ENOTCONN);
  serve();
  const Fd fresh = open("notebook", O_RDWR);
  EXPECT_EQ(write_some(fresh.get(), "x"), 0);
  EXPECT_EQ(write_some(old.get(), "x"), ENOTCONN);
}

TEST_F(SessionTest, RecordsEventsThatAreWrittenToIt) {
  serve();
  const Registered event = registered();
  const std::uint32_t record[] = {event.index, 42};
  EXPECT_EQ(write_some(event.file.get(), {reinterpret_cast<const char*>(record), sizeof record}), EBADF);
  listen(true);
  EXPECT_EQ(word_, 1);
  EXPECT_EQ(write_some(event.file.get(), {reinterpret_cast<const char*>(record), sizeof record}), 0);
  EXPECT_EQ(write_some(event.file.get(), {reinterpret_cast<const char*>(record), 3}), EFAULT);
  const std::uint32_t unknown[] = {event.index + 9, 42};
  EXPECT_EQ(write_some(event.file.get(), {reinterpret_cast<const char*>(unknown), sizeof unknown}), ENOENT);
}

TEST_F(SessionTest, EventsAreRecordedWhileSomethingElseTakesLong) {
  serve();
  const Registered event = registered();
  listen(true);
  const std::uint32_t record[] = {event.index, 42};
  const std::string_view bytes(reinterpret_cast<const char*>(record), sizeof record);
  ASSERT_EQ(write_some(event.file.get(), bytes), 0);
  // Not each time: the first event that a thread of the session records for a user waits for the domain, and a busy
  // machine may take a second for 20 events.
  int undisturbed = 0;
  for (int round = 0; round < 20 && undisturbed < 3; ++round) {
    tree_->data->is_held = tree_->data->may_go_on = false;
    std::atomic<int> in_time{0};
    std::vector<std::thread> slow;
    for (int i = 0; i < 6; ++i) {
      slow.emplace_back([&] {
        const Fd own = open("data", O_RDWR);
        in_time += ::ioctl(own.get(), 10, 0);
      });
    }
    while (!tree_->data->is_held) std::this_thread::yield();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(write_some(event.file.get(), bytes), 0);
    tree_->data->may_go_on = true;
    for (std::thread& one : slow) one.join();
    undisturbed += in_time == 6 ? 1 : 0;
  }
  EXPECT_EQ(undisturbed, 3) << "events waited for the six";
}

TEST_F(SessionTest, FilesAreClosedByTheTimeOfTheNextRequest) {
  serve();
  for (int i = 0; i < 200; ++i) {
    Fd file = open("data", O_RDWR);
    const domain::FileId id = tree_->data->last;
    file.reset();
    (void)open("notebook", O_RDONLY);
    change([&] { EXPECT_FALSE(domain_->files().check(id)); });
  }
}

TEST_F(SessionTest, SurvivesProgramsThatAreKilledInTheMiddle) {
  serve();
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        const Fd data = open("data", O_RDWR);
        ::ioctl(data.get(), 8, 1);
        const Fd book = open("notebook", O_RDWR | O_TRUNC);
        (void)write_some(book.get(), std::string(100'000, 'x'));
        (void)read_some(book.get());
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) (void)entry.status();
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 137 * i));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  const Fd file = open("notebook", O_RDWR | O_TRUNC);
  EXPECT_EQ(write_some(file.get(), "fine"), 0);
  EXPECT_EQ(tree_->notebook->kept, "fine");
}

TEST_F(SessionTest, IsUnmountedAndServedAgainAndAgainUnderLoad) {
  std::atomic<bool> is_over{false};
  serve();
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i) {
    users.emplace_back([&] {
      while (!is_over) {
        const Fd file = open("notebook", O_RDONLY);
        (void)read_some(file.get());
        std::error_code ignored;
        for (std::filesystem::directory_iterator at(folder_, ignored), end; at != end; at.increment(ignored)) {
        }
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (i % 2 == 0) (void)unmount(folder_);
    session_.reset();
    serve();
  }
  is_over = true;
  for (std::thread& user : users) user.join();
}

}  // namespace
}  // namespace landtrace::fuse::test
