// Whose files those beside a recording are: nothing of another recording, or of somebody else, is destroyed.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <map>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PlaceTest : public ::testing::Test {
 protected:
  template <typename Work>
  static void in_killed_process(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  static void append(TraceDatWriter& writer, std::uint32_t n) {
    EXPECT_EQ(message_of(writer.append(number_record(1000 + n, 0, n))), "");
  }
  static void record(const std::string& path, std::uint32_t n) {
    TraceDatWriter writer = create_writer(path, 1);
    append(writer, n);
    ASSERT_EQ(message_of(writer.finish()), "");
  }
  static void leave(const std::string& path, std::uint32_t events = 1) {
    in_killed_process([&] {
      TraceDatWriter writer = create_writer(path, 1);
      writer.add_event(number_type());
      for (std::uint32_t n = 1; n <= events; ++n) append(writer, n);
      std::ignore = writer.publish(0);
    });
  }
  // Killed while it was completed: the first page has arrived in PATH.partial, and the next one finds no room.
  void leave_half_completed() {
    leave(path_, 30'000);
    in_killed_process([&] {
      rlimit limit{};
      ::getrlimit(RLIMIT_FSIZE, &limit);
      limit.rlim_cur = trace_dat::kPageSize * 5 / 2;
      std::signal(SIGXFSZ, SIG_IGN);
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::ignore = complete_recording(path_);
    });
    ASSERT_FALSE(trace_dat::regions_begun(path_).value().empty());
  }
  static Error error_of_create(const std::string& path) {
    const auto writer = TraceDatWriter::create(path, {});
    return writer ? Error() : writer.error();
  }
  static Error error_of_completion(const std::string& path) {
    const auto completed = complete_recording(path);
    return completed ? Error() : completed.error();
  }
  static std::vector<std::uint32_t> numbers(const std::string& path) {
    std::vector<std::uint32_t> numbers;
    for (const KeptRecord& record : read_file_records(path).records) numbers.push_back(record.number());
    return numbers;
  }
  // What links lead to is in it, too.
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> contents;
    for (const std::string& name : dir_.list()) contents[name] = read_text(dir_.file(name));
    return contents;
  }

  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("trace.dat");
  const std::string theirs_ = dir_.file("theirs");
};

TEST_F(PlaceTest, WhatOthersHavePutInPlaceOfAStreamIsNotTouched) {
  leave(path_);
  const std::string stream = path_ + ".cpu0";
  fs::remove(stream);
  write_text(theirs_, std::string(2 << 20, 'x'));
  const auto stays = [&](const char* what) {
    SCOPED_TRACE(what);
    const auto before = contents();
    const Error error = error_of_completion(path_);
    EXPECT_EQ(error.code, EPERM);
    EXPECT_THAT(error.message, HasSubstr(stream));
    EXPECT_TRUE(contents() == before);
    fs::remove(stream);
  };
  fs::create_symlink(theirs_, stream);
  stays("a link");
  fs::create_hard_link(theirs_, stream);
  stays("a hard link");
  ASSERT_EQ(::mkfifo(stream.c_str(), 0600), 0);
  EXPECT_EQ(error_of_completion(path_).code, EPERM);
  fs::remove(stream);
  if (::geteuid() != 0) return;
  fs::copy_file(theirs_, stream);
  ASSERT_EQ(::chown(stream.c_str(), 1001, 1001), 0);
  stays("another user's");
}

TEST_F(PlaceTest, WhatOthersHavePutInPlaceOfThePartialFileIsNotTouched) {
  leave_half_completed();
  fs::rename(path_ + ".partial", theirs_);
  fs::create_symlink(theirs_, path_ + ".partial");
  const auto before = contents();
  EXPECT_EQ(error_of_completion(path_).code, EPERM);
  EXPECT_TRUE(contents() == before);
  fs::remove(path_ + ".partial");
  fs::rename(theirs_, path_ + ".partial");
  EXPECT_EQ(error_of_completion(path_).message, "");
  EXPECT_EQ(numbers(path_).size(), 30'000u);
}

TEST_F(PlaceTest, WhatIsThereInPlaceOfThePartialFileIsNotRemoved) {
  leave(path_);
  write_text(path_ + ".partial", "somebody's");
  const auto before = contents();
  EXPECT_THAT(error_of_completion(path_).message, HasSubstr(path_ + ".partial is in the way"));
  EXPECT_TRUE(contents() == before);
}

TEST_F(PlaceTest, AJournalIsNotWrittenThroughALink) {
  write_text(path_, "older");
  for (const bool is_there : {false, true}) {
    if (is_there) write_text(theirs_, "");
    fs::create_symlink(theirs_, path_ + ".new");
    EXPECT_NE(error_of_create(path_).code, 0);
    EXPECT_EQ(fs::exists(theirs_), is_there);
    EXPECT_EQ(read_text(theirs_), "");
    fs::remove(path_ + ".new");
  }
}

TEST_F(PlaceTest, WhatALeftRecordingHasWhoseJournalWasMovedIsNotDestroyed) {
  leave(path_);
  const std::string moved = dir_.file("monday.dat");
  fs::rename(path_, moved);
  for (const bool is_older_there : {false, true}) {
    if (is_older_there) write_text(path_, "older");
    const auto before = contents();
    const Error error = error_of_create(path_);
    EXPECT_EQ(error.code, EEXIST);
    EXPECT_THAT(error.message, HasSubstr(path_ + ".cpu0 has events of a recording"));
    EXPECT_TRUE(contents() == before);
  }
  fs::remove(path_);
  fs::rename(moved, path_);
  EXPECT_EQ(error_of_completion(path_).message, "");
  EXPECT_THAT(numbers(path_), ElementsAre(1));
}

TEST_F(PlaceTest, AJournalWithoutItsEventsIsNeitherReadNorCompleted) {
  leave(path_);
  const std::string moved = dir_.file("monday.dat");
  fs::rename(path_, moved);
  const auto before = contents();
  const auto read = TraceDatReader::open(moved);
  ASSERT_FALSE(read);
  for (const Error& error : {error_of_completion(moved), read.error()}) {
    EXPECT_EQ(error.code, ENOENT);
    EXPECT_THAT(error.message, HasSubstr(moved + " is of an unfinished recording, and its events are not beside it"));
  }
  EXPECT_TRUE(contents() == before);
}

TEST_F(PlaceTest, WhatWasMovedAlreadyOfAKilledRecorderIsNotInTheWay) {
  record(path_, 1);
  write_text(path_ + ".cpu0", std::string(trace_dat::kCountersAt, '\0') + "counters");
  fs::resize_file(path_ + ".cpu0", trace_dat::kStreamStart + 3 * trace_dat::kPageSize);  // their pages are holes
  EXPECT_EQ(error_of_create(path_).message, "");
}

// As for a moment where names cannot be exchanged.
TEST_F(PlaceTest, WhoRecordsIsLeftAloneAlsoWhereItsJournalIsNotSeen) {
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 1);
  ASSERT_EQ(message_of(writer.publish(0)), "");
  const std::string aside = dir_.file("aside");
  fs::rename(path_, aside);
  const auto before = contents();
  EXPECT_EQ(error_of_create(path_).code, EBUSY);
  EXPECT_TRUE(contents() == before);
  fs::rename(aside, path_);
  append(writer, 2);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(numbers(path_), ElementsAre(1, 2));
}

TEST_F(PlaceTest, WhoIsKeptOffRemovesNothing) {
  write_text(path_ + ".partial", "");
  const Fd theirs(::open((path_ + ".partial").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(theirs.get(), LOCK_EX), 0);
  const Error error = error_of_create(path_);
  EXPECT_EQ(error.code, EBUSY);
  EXPECT_THAT(error.message, HasSubstr(path_ + " is being written by another process"));
  EXPECT_TRUE(trace_dat::is_at(theirs.get(), path_ + ".partial"));
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat.partial"));
}

TEST_F(PlaceTest, ThePartialFileIsLockedUntilItHasItsPlace) {
  for (const std::uint32_t events : {1u, 1'000'000u}) {  // of many, the stream becomes the partial file
    TraceDatWriter writer = create_writer(path_, 1);
    for (std::uint32_t n = 1; n <= events; ++n) std::ignore = writer.append(number_record(1000 + n, 0, n));
    ASSERT_EQ(message_of(writer.finish()), "");
    // The writer lives, and with it the file.
    const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(file.get(), LOCK_SH | LOCK_NB), -1);
    fs::remove(path_);
  }
}

TEST_F(PlaceTest, AnUnfinishedRecordingIsNotReplacedAsTheOlderOne) {
  const std::string old = path_ + ".old";
  write_text(path_, "older");
  leave(old);
  const auto before = contents();
  const Error error = error_of_create(path_);
  EXPECT_EQ(error.code, EEXIST);
  EXPECT_THAT(error.message, HasSubstr("`landtrace recover " + old + "`"));
  EXPECT_TRUE(contents() == before);
  EXPECT_EQ(error_of_completion(old).message, "");
  const TraceDatWriter writer = create_writer(old, 1);
  EXPECT_EQ(error_of_create(path_).message, "");  // what is there is complete
}

TEST_F(PlaceTest, ARecordingThatBeginsWhereTheOlderOneIsToGoStays) {
  const std::string old = path_ + ".old";
  write_text(path_, "older");
  TraceDatWriter writer = create_writer(path_, 1);
  TraceDatWriter other = create_writer(old, 1);
  EXPECT_EQ(error_of_create(path_).code, EBUSY);
  append(writer, 1);
  EXPECT_THAT(message_of(writer.publish(0)), HasSubstr(old));
  EXPECT_EQ(read_text(path_), "older");
  append(other, 2);
  EXPECT_EQ(message_of(other.finish()), "");
  EXPECT_THAT(numbers(old), ElementsAre(2));
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(numbers(path_), ElementsAre(1));
  EXPECT_EQ(read_text(old), "older");
}

TEST_F(PlaceTest, ALinkLeadsTheWholeRecordingToItsTarget) {
  fs::create_directory(dir_.file("large"));
  const std::string target = dir_.file("large/run.dat");
  fs::create_symlink("large/run.dat", path_);
  {
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, 1);
    ASSERT_EQ(message_of(writer.publish(0)), "");
    EXPECT_THAT(dir_.list(), ElementsAre("large", "trace.dat"));
    EXPECT_THAT(numbers(path_), ElementsAre(1));
    ASSERT_EQ(message_of(writer.finish()), "");
  }
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_THAT(dir_.list(), ElementsAre("large", "trace.dat"));
  EXPECT_FALSE(TraceDatReader::open(target)->is_unfinished());
  record(path_, 2);
  EXPECT_THAT(numbers(path_), ElementsAre(2));
  EXPECT_THAT(numbers(target + ".old"), ElementsAre(1));
}

TEST_F(PlaceTest, WhatWasLeftWhereALinkLeadsToIsCompleted) {
  fs::create_directory(dir_.file("large"));
  fs::create_symlink(dir_.file("large/run.dat"), path_);
  leave(path_);
  EXPECT_THAT(numbers(path_), ElementsAre(1));
  EXPECT_EQ(error_of_completion(path_).message, "");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_THAT(numbers(dir_.file("large/run.dat")), ElementsAre(1));
}

TEST_F(PlaceTest, ALinkOfAnotherUserIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "has to be root, to make one";
  for (const bool is_there : {false, true}) {
    if (is_there) write_text(theirs_, "");
    fs::create_symlink(theirs_, path_);
    ASSERT_EQ(::lchown(path_.c_str(), 1001, 1001), 0);
    record(path_, 1);
    EXPECT_EQ(fs::exists(theirs_), is_there);
    EXPECT_EQ(read_text(theirs_), "");
    EXPECT_FALSE(fs::is_symlink(path_));
    EXPECT_THAT(numbers(path_), ElementsAre(1));
    EXPECT_TRUE(fs::is_symlink(path_ + ".old"));
    fs::remove(path_);
  }
}

// As on a network file system without locks; for the calling process alone, and for good.
bool take_locks_away() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fcntl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(code), .filter = code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(PlaceTest, WithoutLocksNothingIsCompletedThatMayBeBeingRecorded) {
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 1);
  ASSERT_EQ(message_of(writer.publish(0)), "");
  const auto before = contents();
  const std::string other = dir_.file("other");
  in_killed_process([&] {
    if (!take_locks_away()) return;
    write_text(dir_.file("message"), error_of_completion(path_).message);
    record(other, 2);  // who records goes on without them
  });
  EXPECT_THAT(read_text(dir_.file("message")), HasSubstr(path_ + " is being recorded cannot be told"));
  EXPECT_THAT(numbers(other), ElementsAre(2));
  fs::remove(dir_.file("message"));
  fs::remove(other);
  EXPECT_TRUE(contents() == before);
  append(writer, 2);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(numbers(path_), ElementsAre(1, 2));
}

}  // namespace
}  // namespace landtrace::output
