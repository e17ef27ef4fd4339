// A disk that runs full ends the recording and loses nothing that was accepted.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcome {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  Error first;
};

// Appends until `refusals` records were refused, over all CPUs.
Outcome fill(TraceDatWriter& writer, std::uint32_t cpus, std::uint64_t refusals) {
  Outcome outcome;
  for (std::uint32_t i = 0; outcome.refused < refusals; ++i) {
    const auto result = writer.append(number_record(1000 + i, i % cpus, i));
    if (result) {
      ++outcome.accepted;
    } else if (outcome.refused++ == 0) {
      outcome.first = result.error();
    }
  }
  return outcome;
}

// A small tmpfs in a mount namespace of this process alone. False where that is not allowed.
bool mount_small_disk(const std::string& path, const char* size) {
  std::filesystem::create_directory(path);
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("small", path.c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) == 0;
}

class FullDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!mount_small_disk(disk_, "8m")) GTEST_SKIP() << "no right to mount a tmpfs";
  }
  void TearDown() override { ::umount2(disk_.c_str(), MNT_DETACH); }

  TempDir dir_;
  const std::string disk_ = dir_.file("disk");
  const std::string path_ = disk_ + "/trace.dat";
};

TEST_F(FullDiskTest, EveryAcceptedRecordIsInTheFile) {
  TraceDatWriter writer = create_writer(path_, 3);
  writer.add_event(number_type());
  const Outcome outcome = fill(writer, 3, 100);
  EXPECT_EQ(outcome.first.code, ENOSPC);
  EXPECT_THAT(outcome.first.message, HasSubstr("trace.dat.cpu"));
  EXPECT_THAT(outcome.first.message, HasSubstr("No space left on device"));
  EXPECT_GT(outcome.accepted, 200'000u);

  EXPECT_EQ(message_of(writer.finish()), "");
  const ReadResult all = read_file_records(path_);
  EXPECT_FALSE(all.error) << all.error->message;
  EXPECT_EQ(all.records.size(), outcome.accepted);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".cpu0"));
}

TEST_F(FullDiskTest, RefusedRecordsAreCountedAndTheReasonIsToldOnce) {
  TraceDatWriter writer = create_writer(path_, 1);
  const Outcome outcome = fill(writer, 1, 10);
  const auto again = writer.append(number_record(1, 0, 1));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ENOSPC);
  EXPECT_THAT(again.error().message, IsEmpty());
  EXPECT_EQ(message_of(writer.finish()), "");
  const auto reader = TraceDatReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->stats().at(0).entries, outcome.accepted);
  EXPECT_EQ(reader->stats().at(0).dropped, 11u);
}

TEST_F(FullDiskTest, ARecordThatNoFileCouldBeOpenedForIsCounted) {
  TraceDatWriter writer = create_writer(path_, 2);
  // Room for nothing more, neither for a page of CPU 1 nor for its reservation.
  const std::string rest = disk_ + "/rest";
  write_text(rest, std::string(8 * 1024 * 1024, 'x'));
  const Outcome outcome = fill(writer, 2, 5);
  EXPECT_EQ(outcome.first.code, ENOSPC);
  std::filesystem::remove(rest);
  EXPECT_EQ(message_of(writer.finish()), "");
  const auto reader = TraceDatReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->stats().at(0).dropped + reader->stats().at(1).dropped, outcome.refused);
}

TEST_F(FullDiskTest, SparsePagesLoseNothingEither) {
  TraceDatWriter writer = create_writer(path_, 1);
  std::uint64_t accepted = 0;
  for (std::uint32_t i = 0; writer.append(number_record(1000 + i, 0, i)); ++i) {
    ++accepted;
    // The first pages have a few bytes each, later ones are full.
    if (i < 1000) writer.lost(0, 1);
  }
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(read_file_records(path_).records.size(), accepted);
}

TEST_F(FullDiskTest, NoRoomToStartWith) {
  write_text(disk_ + "/other", std::string(7 * 1024 * 1024, 'x'));
  const auto writer = TraceDatWriter::create(path_, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ENOSPC);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// The limit on a file's size stops the temporary files, and then the target that is to hold them all.
class FileSizeLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = kLimit;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  void TearDown() override { lift(); }
  void lift() { ::setrlimit(RLIMIT_FSIZE, &old_); }

  static constexpr rlim_t kLimit = 6 * 1024 * 1024;
  rlimit old_{};
  TempDir dir_;
  const std::string path_ = dir_.file("trace.dat");
};

TEST_F(FileSizeLimitTest, WhatDoesNotFitOneFileIsReadAsItIsAndCompletedLater) {
  Outcome outcome;
  {
    TraceDatWriter writer = create_writer(path_, 2);
    outcome = fill(writer, 2, 100);
    EXPECT_EQ(outcome.first.code, EFBIG);
    const auto finished = writer.finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, EFBIG);
    EXPECT_THAT(finished.error().message, HasSubstr("landtrace recover"));
  }
  // The limit, unlike a full disk, takes the room that was reserved for the last page of each CPU.
  constexpr std::uint64_t kInLastPages = 2 * 128 * 1024 / 16;
  for (const bool completed : {false, true}) {
    if (completed) {
      EXPECT_EQ(complete_recording(path_).error().code, EFBIG);
      lift();
      ASSERT_EQ(message_of(complete_recording(path_)), "");
    }
    const ReadResult all = read_file_records(path_);
    EXPECT_FALSE(all.error) << all.error->message;
    EXPECT_GE(all.records.size(), outcome.accepted - kInLastPages);
  }
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(FileSizeLimitTest, BesideAnOlderRecordingItIsReadAsItIsAndCompletedLater) {
  write_text(path_, "older");
  std::vector<KeptRecord> left;
  {
    TraceDatWriter writer = create_writer(path_, 2);
    fs::create_directory(path_ + ".old");
    std::ignore = fill(writer, 2, 100);
    const auto finished = writer.finish();
    EXPECT_EQ(finished.error().code, EFBIG);
    EXPECT_THAT(finished.error().message, HasSubstr("can be read as it is, at " + path_ + ".new"));
    EXPECT_THAT(finished.error().message, HasSubstr("`landtrace recover " + path_ + "`"));
    left = read_file_records(writer.place()).records;
    EXPECT_GT(left.size(), 200'000u);
  }
  lift();
  fs::remove(path_ + ".old");
  EXPECT_EQ(TraceDatWriter::create(path_, {}).error().code, EEXIST);
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_EQ(read_file_records(path_).records.size(), left.size());
  EXPECT_EQ(read_text(path_ + ".old"), "older");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
}

}  // namespace
}  // namespace landtrace::output
