#include "preload/reopen.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "preload/data_file.hpp"
#include "preload/requests.hpp"
#include "preload/status_file.hpp"

namespace landtrace::preload {
namespace {

using client::Asked;
using client::ClientTest;
using client::FakeAnswer;
using client::FakeOwner;
using client::Process;
using ipc::Operation;
using Kind = FakeAnswer::Kind;

constexpr int kPatience_ms = 30'000;
constexpr int kShort_ms = 100;

class ReopenTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    reopen_patience_ms = kPatience_ms;
  }
  // Files 1, 2, … with the generations 101, 102, … and the keys 201, 202, …
  static void number_files(FakeOwner& owner) {
    const auto count = std::make_shared<std::uint32_t>(0);
    owner.answer(Operation::kOpenFile, [count](const Asked&) {
      FakeAnswer answer = FakeAnswer::of(Kind::kIdentity);
      answer.identity.slot = ++*count;
      answer.identity.generation = 100 + *count;
      answer.identity.key = 200 + *count;
      return answer;
    });
  }
  // The next owner has each file under a generation 1000 higher.
  static FakeAnswer known(const Asked& asked) {
    FakeAnswer answer = FakeAnswer::of(Kind::kIdentity);
    answer.identity.slot = asked.request.file_slot;
    answer.identity.generation = asked.request.file_generation + 1000;
    return answer;
  }
  static FakeAnswer refused(const Asked&) {
    FakeAnswer answer = FakeAnswer::of(Kind::kIdentity);
    answer.identity.error = ENOENT;
    return answer;
  }
  static void join() {
    ASSERT_TRUE(client::eventually([] { return Process::get().join_next_owner(); }));
  }
};

TEST_F(ReopenTest, EveryFileIsReopenedOnceUnderItsNumber) {
  in_child([&] {
    Process::get().set_on_next_owner(on_next_owner);
    std::optional<FakeOwner> first(path());
    number_files(*first);
    const int one = open_data_file(O_WRONLY);
    const int two = open_data_file(O_RDWR | O_CLOEXEC | O_NONBLOCK);
    const int one_again = ::dup(one);
    FdTable::copy(one, one_again);
    first->die();
    FakeOwner second(path());
    second.answer(Operation::kReopenFile, known);
    join();
    EXPECT_EQ(FdTable::get(one).generation, 1101u);
    EXPECT_EQ(FdTable::get(one).access, O_WRONLY);
    EXPECT_EQ(FdTable::get(two).generation, 1102u);
    EXPECT_EQ(FdTable::get(two).slot, 2u);
    EXPECT_EQ(FdTable::get(one_again).generation, 1101u);
    const auto reopened = second.asked(Operation::kReopenFile);
    ASSERT_EQ(reopened.size(), 2u);
    for (const Asked& asked : reopened) EXPECT_EQ(ipc::key_of(asked.request), asked.request.file_slot + 200);
    EXPECT_EQ(::fcntl(one, F_GETFD), 0);
    EXPECT_EQ(::fcntl(two, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::fcntl(one, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(two, F_GETFL) & O_NONBLOCK, 0);
    const auto identity = ipc::peek_identity(one_again);
    ASSERT_TRUE(identity.has_value());
    EXPECT_EQ(identity->generation, 1101u);
    // Two files and the process's own; each that was given up when the owner was busy ends.
    EXPECT_TRUE(client::eventually([&] { return second.connections() == 3; }));
  });
}

TEST_F(ReopenTest, AFileThatTheNextOwnerDoesNotKnowIsANewOne) {
  in_child([&] {
    Process::get().set_on_next_owner(on_next_owner);
    std::optional<FakeOwner> first(path());
    number_files(*first);
    const int fd = open_data_file(O_RDWR);
    ASSERT_GE(fd, 0);
    first->die();
    FakeOwner second(path());
    second.answer(Operation::kReopenFile, refused);
    join();
    EXPECT_EQ(FdTable::get(fd).generation, 77u);
    EXPECT_EQ(second.asked(Operation::kOpenFile).size(), 1u);
  });
}

TEST_F(ReopenTest, WhereTheOwnerGivesNoFileTheDescriptorStaysAsItIs) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    number_files(*first);
    const int fd = open_data_file(O_RDWR);
    ASSERT_GE(fd, 0);
    first->die();
    FakeOwner second(path());
    join();
    for (const Kind kind : {Kind::kGarbage, Kind::kHangUp, Kind::kSilence}) {
      second.answer(Operation::kReopenFile, FakeAnswer::of(kind));
      reopen_patience_ms = kind == Kind::kSilence ? kShort_ms : kPatience_ms;
      reopen_files();
      EXPECT_EQ(FdTable::get(fd).generation, 101u);
    }
    EXPECT_TRUE(second.asked(Operation::kOpenFile).empty()) << "it may know the file all the same";
    reopen_patience_ms = kPatience_ms;
    second.answer(Operation::kReopenFile, refused);
    second.answer(Operation::kOpenFile, refused);
    reopen_files();
    EXPECT_EQ(FdTable::get(fd).generation, 101u);
    EXPECT_TRUE(client::eventually([&] { return second.connections() == 1; })) << "and no other is left over";
  });
}

// The program has closed it in a way that the shim does not see, and its number is another file's.
TEST_F(ReopenTest, ANumberThatIsAnotherFileByNowIsLeftAlone) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    number_files(*first);
    const int fd = open_data_file(O_RDWR);
    ASSERT_GE(fd, 0);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::dup2(ends[1], fd), fd);
    first->die();
    FakeOwner second(path());
    second.answer(Operation::kReopenFile, known);
    join();
    reopen_files();
    EXPECT_FALSE(FdTable::is_ours(fd));
    EXPECT_EQ(::write(fd, "x", 1), 1);
  });
}

TEST_F(ReopenTest, StatusFilesGoOnByThemselves) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    EXPECT_TRUE(FdTable::set(90, {1, 0, kStatusText}));
    EXPECT_TRUE(FdTable::set(91, {1, 0, kStatusNoText}));
    reopen_files();
    EXPECT_TRUE(owner.asked(Operation::kReopenFile).empty());
  });
}

TEST_F(ReopenTest, AFileWhoseOwnerLivesIsNotReopened) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    number_files(*first);
    const int fd = open_data_file(O_RDWR);
    ASSERT_GE(fd, 0);
    reopen_if_dead(fd);
    EXPECT_TRUE(first->asked(Operation::kReopenFile).empty());
    first->die();
    reopen_if_dead(fd);  // there is nobody yet
    EXPECT_EQ(FdTable::get(fd).generation, 101u);
    FakeOwner second(path());
    second.answer(Operation::kReopenFile, known);
    reopen_if_dead(fd);  // the process has not joined it
    EXPECT_TRUE(second.asked(Operation::kReopenFile).empty());
    join();
    reopen_if_dead(fd);
    EXPECT_EQ(FdTable::get(fd).generation, 1101u);
  });
}

// It was busy when the process joined it.
TEST_F(ReopenTest, AFileThatWasNotReopenedInTimeIsReopenedLate) {
  in_child([&] {
    Process::get().set_on_next_owner(on_next_owner);
    std::optional<FakeOwner> first(path());
    number_files(*first);
    const int fd = open_data_file(O_RDWR);
    ASSERT_GE(fd, 0);
    EXPECT_TRUE(reopen_late(fd));
    EXPECT_TRUE(first->asked(Operation::kReopenFile).empty()) << "its owner lives";
    first->die();
    FakeOwner second(path());
    second.answer(Operation::kReopenFile, FakeAnswer::of(Kind::kSilence));
    reopen_patience_ms = kShort_ms;
    join();
    ASSERT_EQ(FdTable::get(fd).generation, 101u);
    // The owner may get to a question when nobody waits for the answer any more.
    const auto was_asked = [&](std::size_t times) {
      return client::eventually([&] { return second.asked(Operation::kReopenFile).size() == times; });
    };
    ASSERT_TRUE(was_asked(1));
    const auto tried = std::chrono::steady_clock::now();
    EXPECT_FALSE(reopen_late(fd));
    EXPECT_TRUE(was_asked(2));
    second.answer(Operation::kReopenFile, known);
    reopen_patience_ms = kPatience_ms;
    errno = EDOM;
    const bool is_reopened = reopen_late(fd);
    const auto took = std::chrono::steady_clock::now() - tried;
    EXPECT_TRUE(!is_reopened || took >= std::chrono::seconds(1)) << "not at once: each try may take long";
    EXPECT_TRUE(client::eventually([&] { return reopen_late(fd); }));
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(FdTable::get(fd).generation, 1101u);
  });
}

}  // namespace
}  // namespace landtrace::preload
