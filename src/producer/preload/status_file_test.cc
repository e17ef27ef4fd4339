#include "preload/status_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "preload/data_file.hpp"

namespace landtrace::preload {
namespace {

using client::Asked;
using client::ClientTest;
using client::FakeAnswer;
using client::FakeOwner;
using client::Process;
using ipc::Operation;

class StatusFileTest : public ClientTest {
 protected:
  static constexpr char kText[] = "1:done\n\nActive: 1\n";

  void with_owner(const std::function<void(FakeOwner&)>& body) const {
    in_child([&] {
      FakeOwner owner(path());
      const std::string page = folder() + "/page";
      std::ofstream(page) << std::string(4096, '\1');
      FakeAnswer answer;
      answer.file = page;
      owner.answer(Operation::kStatusPage, answer);
      owner.answer(Operation::kStatusText, [](const Asked& asked) {
        FakeAnswer text;
        text.text = std::string(kText).substr(std::min<std::size_t>(asked.request.a, sizeof kText - 1));
        return text;
      });
      body(owner);
    });
  }
  static std::string read_from(int fd, std::size_t size, off_t offset = -1) {
    std::string text(size, '#');
    const ssize_t n = read_status_file(fd, FdTable::get(fd), text.data(), size, offset);
    return n < 0 ? "error " + std::to_string(errno) : text.substr(0, static_cast<std::size_t>(n));
  }
};

TEST_F(StatusFileTest, FilesAreKnownByTheLastPartOfTheirPaths) {
  EXPECT_EQ(names_status_file("/sys/kernel/tracing/user_events_status"), StatusFile::kBits);
  EXPECT_EQ(names_status_file("user_events_status"), StatusFile::kBits);
  EXPECT_EQ(names_status_file("/user_events_mmap"), StatusFile::kBytes);
  EXPECT_EQ(names_status_file("/user_events_data"), StatusFile::kNone);
  EXPECT_EQ(names_status_file("/my_user_events_mmap"), StatusFile::kNone);
  EXPECT_EQ(names_status_file("user_events_mmap/"), StatusFile::kNone);
}

TEST_F(StatusFileTest, WithoutADomainThereAreNone) {
  in_child([] { EXPECT_EQ(open_status_file(StatusFile::kBits, O_RDONLY), kNoDomain); });
}

TEST_F(StatusFileTest, AFileIsTheOwnersPageForReading) {
  with_owner([](FakeOwner& owner) {
    const int fd = open_status_file(StatusFile::kBits, O_RDONLY);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(owner.asked(Operation::kStatusPage)[0].request.a, 0u);
    EXPECT_TRUE(is_status_file(FdTable::get(fd)));
    const void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    ASSERT_NE(page, MAP_FAILED);
    EXPECT_EQ(*static_cast<const char*>(page), 1);
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    EXPECT_EQ(::fcntl(fd, F_GETFD), 0);
    const int bytes = open_status_file(StatusFile::kBytes, O_RDONLY | O_CLOEXEC);
    ASSERT_GE(bytes, 0);
    EXPECT_EQ(owner.asked(Operation::kStatusPage)[1].request.a, 1u);
    EXPECT_EQ(::fcntl(bytes, F_GETFD), FD_CLOEXEC);
    EXPECT_TRUE(is_status_file(FdTable::get(bytes)));
  });
}

TEST_F(StatusFileTest, ItCannotBeOpenedForWriting) {
  with_owner([](FakeOwner&) {
    for (const int flags : {O_WRONLY, O_RDWR}) {
      EXPECT_EQ(open_status_file(StatusFile::kBits, flags), -1);
      EXPECT_EQ(errno, EACCES);
    }
  });
}

TEST_F(StatusFileTest, AnOwnerWithoutPagesIsNoDomainForThem) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kStatusPage, FakeAnswer::error(ENOTSUP));
    EXPECT_EQ(open_status_file(StatusFile::kBits, O_RDONLY), kNoDomain);
    owner.answer(Operation::kStatusPage, FakeAnswer());
    EXPECT_EQ(open_status_file(StatusFile::kBits, O_RDONLY), kNoDomain);
  });
}

TEST_F(StatusFileTest, ItsTextIsReadPieceByPieceFromTheDescriptorsOwnPosition) {
  with_owner([](FakeOwner&) {
    const int fd = open_status_file(StatusFile::kBits, O_RDONLY);
    const int other = open_status_file(StatusFile::kBits, O_RDONLY);
    errno = EDOM;
    EXPECT_EQ(read_from(fd, 4), "1:do");
    EXPECT_EQ(read_from(fd, 4), "ne\n\n");
    EXPECT_EQ(read_from(other, 4), "1:do");
    EXPECT_EQ(read_from(fd, 100), "Active: 1\n");
    EXPECT_EQ(read_from(fd, 100), "");
    EXPECT_EQ(read_from(fd, 0), "");
    EXPECT_EQ(::lseek(fd, 0, SEEK_SET), 0);
    EXPECT_EQ(read_from(fd, 2), "1:");
    EXPECT_EQ(errno, EDOM);
  });
}

TEST_F(StatusFileTest, AReadAtAPlaceMovesNothing) {
  with_owner([](FakeOwner&) {
    const int fd = open_status_file(StatusFile::kBits, O_RDONLY);
    EXPECT_EQ(read_from(fd, 4, 2), "done");
    EXPECT_EQ(read_from(fd, 2, 0), "1:");
    EXPECT_EQ(read_from(fd, 2), "1:");
  });
}

TEST_F(StatusFileTest, WhatCannotBeReadIsAnError) {
  with_owner([](FakeOwner& owner) {
    const int bytes = open_status_file(StatusFile::kBytes, O_RDONLY);
    EXPECT_EQ(read_from(bytes, 4), "error " + std::to_string(EINVAL));
    const int fd = open_status_file(StatusFile::kBits, O_RDONLY);
    EXPECT_EQ(read_status_file(fd, FdTable::get(fd), nullptr, 4), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(::lseek(fd, 0, SEEK_CUR), 0);
    owner.answer(Operation::kStatusText, FakeAnswer::error(EPERM));
    EXPECT_EQ(read_from(fd, 4), "error " + std::to_string(EPERM));
    owner.answer(Operation::kStatusText, FakeAnswer::of(FakeAnswer::Kind::kHangUp));
    EXPECT_EQ(read_from(fd, 4), "error " + std::to_string(ENODEV));
  });
}

}  // namespace
}  // namespace landtrace::preload
