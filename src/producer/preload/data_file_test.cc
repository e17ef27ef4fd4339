#include "preload/data_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "ipc/socket.hpp"
#include "preload/real.hpp"
#include "preload/reopen.hpp"

namespace landtrace::preload {
namespace {

using client::Asked;
using client::ClientTest;
using client::FakeAnswer;
using client::FakeOwner;
using client::Process;
using ipc::Operation;
using Kind = FakeAnswer::Kind;

FakeAnswer identity_of(std::uint32_t slot, std::uint32_t generation, int error = 0) {
  FakeAnswer answer = FakeAnswer::of(Kind::kIdentity);
  answer.identity.slot = slot;
  answer.identity.generation = generation;
  answer.identity.error = error;
  return answer;
}

class DataFileTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    reopen_patience_ms = 30'000;
  }
  // A file's connection that somebody else has made, as it comes over a socket or through exec.
  [[nodiscard]] int foreign_file() const {
    const int fd = ipc::connect_plain(path().c_str(), true);
    const ipc::Request request{.operation = Operation::kOpenFile};
    EXPECT_EQ(::send(fd, &request, sizeof request, 0), static_cast<ssize_t>(sizeof request));
    char byte;
    EXPECT_EQ(::recv(fd, &byte, 1, MSG_PEEK), 1);  // once the identity is there
    return fd;
  }
};

TEST_F(DataFileTest, AFileIsKnownByTheLastPartOfItsPath) {
  EXPECT_TRUE(names_data_file("user_events_data"));
  EXPECT_TRUE(names_data_file("/sys/kernel/tracing/user_events_data"));
  EXPECT_FALSE(names_data_file(""));
  EXPECT_FALSE(names_data_file("user_events_dat"));
  EXPECT_FALSE(names_data_file("/sys/my_user_events_data"));
  EXPECT_FALSE(names_data_file("user_events_data/"));
  EXPECT_FALSE(names_data_file("/user_events_data/x"));
  EXPECT_FALSE(names_data_file("user_events_datb"));
}

TEST_F(DataFileTest, WithoutADomainTheShimIsNotThere) {
  in_child([] { EXPECT_EQ(open_data_file(O_RDWR), kNoDomain); });
}

TEST_F(DataFileTest, AFileIsAConnectionThatTheTableKnows) {
  in_child([&] {
    FakeOwner owner(path());
    owner.answer(Operation::kOpenFile, identity_of(3, 77));
    const int fd = open_data_file(O_WRONLY);
    ASSERT_GE(fd, 0);
    const FdEntry entry = FdTable::get(fd);
    EXPECT_EQ(entry.generation, 77u);
    EXPECT_EQ(entry.slot, 3u);
    EXPECT_EQ(entry.access, O_WRONLY);
    EXPECT_EQ(::fcntl(fd, F_GETFD), 0);
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(owner.connections(), 2);
    // The thread has its place already.
    EXPECT_EQ(owner.domain().data().threads[0].tid, static_cast<std::uint32_t>(::gettid()));
  });
}

TEST_F(DataFileTest, FlagsAreThoseOfTheDescriptor) {
  in_child([&] {
    FakeOwner owner(path());
    const int fd = open_data_file(O_RDWR | O_CLOEXEC | O_NONBLOCK);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(FdTable::get(fd).access, O_RDWR);
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  });
}

TEST_F(DataFileTest, TheOwnersRefusalIsTheError) {
  in_child([&] {
    FakeOwner owner(path());
    owner.answer(Operation::kOpenFile, identity_of(0, 0, EMFILE));
    EXPECT_EQ(open_data_file(O_RDWR), -1);
    EXPECT_EQ(errno, EMFILE);
    EXPECT_TRUE(client::eventually([&] { return owner.connections() == 1; }));
  });
}

TEST_F(DataFileTest, WhereThereIsADomainTheErrorIsNotThatThereIsNone) {
  in_child([&] {
    FakeOwner owner(path());
    const auto expect_unreached = [](int error) {
      errno = 0;
      EXPECT_EQ(open_data_file(O_RDWR), kUnreached);
      EXPECT_EQ(errno, error);
    };
    owner.answer(Operation::kAttach, FakeAnswer::error(EPERM));
    expect_unreached(EACCES);
    owner.answer(Operation::kAttach, FakeAnswer::error(ENOSPC));  // as many users as it can have
    expect_unreached(ENFILE);
    owner.answer(Operation::kAttach, [&](const Asked& asked) { return owner.by_itself(asked); });
    owner.answer(Operation::kOpenFile, FakeAnswer::of(Kind::kGarbage));
    expect_unreached(EPROTO);
    owner.answer(Operation::kOpenFile, FakeAnswer::of(Kind::kHangUp));
    expect_unreached(ENODEV);
    owner.answer(Operation::kOpenFile, FakeAnswer::error(EMFILE));  // its word to whoever asks at all
    expect_unreached(EMFILE);
    owner.answer(Operation::kOpenFile, FakeAnswer::of(Kind::kSilence));
    expect_unreached(ETIMEDOUT);
  });
}

// -- descriptors that come from elsewhere -----------------------------------------------------------------------------
TEST_F(DataFileTest, AFileThatCameFromElsewhereIsRecognised) {
  in_child([&] {
    FakeOwner owner(path());
    const int fd = foreign_file();
    EXPECT_FALSE(FdTable::is_ours(fd));
    errno = EDOM;
    EXPECT_TRUE(recognise(fd));
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(FdTable::get(fd).generation, 77u);
    EXPECT_EQ(FdTable::get(fd).access, O_RDWR);
    EXPECT_TRUE(Process::is_attached());
    EXPECT_EQ(find_file(fd).slot, 1u);
  });
}

TEST_F(DataFileTest, LookingAtADescriptorFindsAFile) {
  in_child([&] {
    FakeOwner owner(path());
    const int fd = foreign_file();
    EXPECT_EQ(find_file(fd).generation, 77u);
    EXPECT_EQ(find_file(0).generation, 0u);
    EXPECT_EQ(find_file(-1).generation, 0u);
  });
}

TEST_F(DataFileTest, WhatOnlyLooksLikeAFileIsNone) {
  in_child([&] {
    FakeOwner owner(path());
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    const ipc::FileIdentity identity{.slot = 1, .generation = 77};
    ASSERT_EQ(::send(ends[1], &identity, sizeof identity, 0), static_cast<ssize_t>(sizeof identity));
    EXPECT_FALSE(recognise(ends[0])) << "anybody could say so";
    EXPECT_FALSE(recognise(0));
    EXPECT_FALSE(recognise(-1));
    owner.answer(Operation::kOpenFile, identity_of(1, 0));
    EXPECT_FALSE(recognise(foreign_file())) << "a file without a generation";
    EXPECT_FALSE(Process::is_attached());
  });
}

TEST_F(DataFileTest, AnotherDomainsFileIsNotOurs) {
  in_child([&] {
    FakeOwner owner(path());
    const int fd = foreign_file();
    ::setenv("LANDTRACE_SOCKET", (folder() + "/other.sock").c_str(), 1);
    EXPECT_FALSE(recognise(fd));
    FakeOwner other(folder() + "/other.sock");
    ASSERT_TRUE(Process::get().attach());
    EXPECT_FALSE(recognise(fd));
    ::setenv("LANDTRACE_SOCKET", path().c_str(), 1);  // where the process is attached counts
    EXPECT_FALSE(recognise(fd));
  });
}

TEST_F(DataFileTest, AFileOfADeadOwnersIsTheNextOnesIfThereIsOne) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    const int fd = foreign_file();
    first->die();
    FakeOwner second(path());
    second.answer(Operation::kReopenFile, identity_of(5, 99));
    EXPECT_TRUE(recognise(fd));
    EXPECT_EQ(FdTable::get(fd).generation, 99u);
    const auto reopened = second.asked(Operation::kReopenFile);
    ASSERT_EQ(reopened.size(), 1u);
    EXPECT_EQ(reopened[0].request.file_slot, 1u);
    EXPECT_EQ(reopened[0].request.file_generation, 77u);
  });
}

TEST_F(DataFileTest, AFileOfADeadOwnersWaitsForTheNextOne) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    const int fd = foreign_file();
    first->die();
    EXPECT_TRUE(recognise(fd));
    EXPECT_FALSE(Process::is_attached());
    EXPECT_EQ(FdTable::get(fd).generation, 77u);
    FakeOwner second(path());
    EXPECT_TRUE(client::eventually([] { return Process::get().join_next_owner(); }));
  });
}

}  // namespace
}  // namespace landtrace::preload
