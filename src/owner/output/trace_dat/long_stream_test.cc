// Recordings with a stream so long that it becomes the finished file itself.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr std::uint32_t kEvents = 200;  // two on a page

class LongStreamTest : public ::testing::Test {
 protected:
  // The large ones are the second CPU's.
  void append_all(TraceDatWriter& writer) {
    writer.add_event(number_type());
    for (std::uint32_t n = 0; n < kEvents; ++n) append(writer, n);
  }
  void append(TraceDatWriter& writer, std::uint32_t n) {
    std::memcpy(large_.data(), &n, sizeof n);
    Record record = number_record(1000 + n, n % 5 == 0 ? 0 : 1, n);
    if (record.cpu == 1) record.payload = std::as_bytes(std::span(large_));
    EXPECT_EQ(message_of(writer.append(record)), "");
  }
  static void expect_all(const ReadResult& result) {
    EXPECT_FALSE(result.error) << result.error->message;
    ASSERT_EQ(result.records.size(), kEvents);
    for (std::uint32_t n = 0; n < kEvents; ++n) EXPECT_EQ(result.records[n].number(), n);
  }
  void expect_all() { expect_all(read_file_records(path_)); }
  static ino_t inode(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_ino;
  }

  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("trace.dat");
  std::vector<char> large_ = std::vector<char>(60'000, 'x');
};

TEST_F(LongStreamTest, ItIsNotMoved) {
  TraceDatWriter writer = create_writer(path_, 3);
  append_all(writer);
  writer.lost(1, 9);
  EXPECT_EQ(message_of(writer.publish(0)), "");
  const ino_t stream = inode(trace_dat::stream_path(path_, 1));
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(inode(path_), stream);
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
  expect_all();
  const TraceDatReader reader = TraceDatReader::open(path_).value();
  EXPECT_FALSE(reader.is_unfinished());
  EXPECT_EQ(reader.cpus(), 3u);
  EXPECT_EQ(reader.stats().at(1).overrun, 9u);
  EXPECT_EQ(reader.stats().at(0).entries, kEvents / 5);
  // The room before the events is a hole.
  EXPECT_LT(disk_bytes(path_), fs::file_size(path_) - 512 * 1024);
}

// So much that the blocks of what has arrived are given back in between.
TEST_F(LongStreamTest, AnotherLongOneIsMovedWhole) {
  constexpr std::uint32_t kMany = 2'400;  // 72 MB each
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  for (std::uint32_t n = 0; n < kMany; ++n) {
    std::memcpy(large_.data(), &n, sizeof n);
    Record record = number_record(1000 + n, n % 2, n);
    record.payload = std::as_bytes(std::span(large_));
    EXPECT_EQ(message_of(writer.append(record)), "");
  }
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
  const ReadResult all = read_file_records(path_);
  EXPECT_FALSE(all.error) << all.error->message;
  ASSERT_EQ(all.records.size(), kMany);
  for (std::uint32_t n = 0; n < kMany; ++n) {
    EXPECT_EQ(all.records[n].number(), n);
    EXPECT_EQ(all.records[n].payload.substr(4), std::string(large_.size() - 4, 'x')) << n;
  }
}

TEST_F(LongStreamTest, TraceCmdReadsIt) {
  LT_NEEDS_TRACE_CMD();
  TraceDatWriter writer = create_writer(path_, 2);
  append_all(writer);
  EXPECT_EQ(message_of(writer.finish()), "");
  const std::string text = run("trace-cmd report -i " + path_);
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find(" n=", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, kEvents) << text.substr(0, 1000);
}

// Names that need more than there is before the events.
TEST_F(LongStreamTest, ItIsMovedWhereItHasNotRoomEnough) {
  TraceDatWriter writer = create_writer(path_, 2);
  append_all(writer);
  for (int tid = 1; tid < 80'000; ++tid) writer.set_task(tid, {"a-long-name", 1});
  EXPECT_EQ(message_of(writer.publish(0)), "");
  const ino_t stream = inode(trace_dat::stream_path(path_, 1));
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_NE(inode(path_), stream);
  expect_all();
  EXPECT_EQ(TraceDatReader::open(path_).value().tasks().size(), 79'999u);
}

// It has the beginning of a finished file already, and is still a stream.
TEST_F(LongStreamTest, IsReadAndCompletedWhereItCouldNotTakeItsPlace) {
  {
    TraceDatWriter writer = create_writer(path_, 2);
    append_all(writer);
    fs::remove(path_ + ".partial");
    fs::create_directory(path_ + ".partial");
    EXPECT_FALSE(writer.finish());
  }
  expect_all();
  fs::remove(path_ + ".partial");
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  expect_all();
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

// It has taken its place, and the other CPU's events do not fit behind its own.
TEST_F(LongStreamTest, IsReadAndCompletedWhereOthersCouldNotFollow) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  {
    TraceDatWriter writer = create_writer(path_, 2);
    append_all(writer);
    EXPECT_EQ(message_of(writer.publish(0)), "");
    rlimit limit = old;
    // Its last page may be begun: it is filled up.
    limit.rlim_cur = (fs::file_size(trace_dat::stream_path(path_, 1)) + 128 * 1024 - 1) / (128 * 1024) * (128 * 1024);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto finished = writer.finish();
    ::setrlimit(RLIMIT_FSIZE, &old);
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, EFBIG);
    EXPECT_THAT(finished.error().message, testing::HasSubstr("landtrace recover"));
  }
  EXPECT_FALSE(fs::exists(trace_dat::stream_path(path_, 1)));
  // The last page of the other CPU was in memory alone; what was published of it is in its stream.
  expect_all();
  EXPECT_TRUE(TraceDatReader::open(path_).value().is_unfinished());
  EXPECT_EQ(TraceDatReader::open(path_).value().stats().at(1).entries, kEvents - kEvents / 5);
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  expect_all();
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(LongStreamTest, AFollowerGetsEachEventOnce) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  EXPECT_EQ(message_of(writer.publish(0)), "");
  TraceDatReader reader = TraceDatReader::open(path_).value();
  reader.follow();
  ReadResult all;
  const auto read_more = [&] {
    ReadResult more = read_all(reader);
    EXPECT_FALSE(more.error) << more.error->message;
    for (KeptRecord& record : more.records) all.records.push_back(std::move(record));
  };
  for (std::uint32_t n = 0; n < kEvents; ++n) {
    append(writer, n);
    if (n % 20 != 0) continue;
    EXPECT_EQ(message_of(writer.publish(1000 + n)), "");
    ASSERT_TRUE(reader.look_again());
    read_more();
  }
  EXPECT_EQ(message_of(writer.finish()), "");
  while (reader.look_again().value() == TraceDatReader::Growth::kGrows) read_more();
  read_more();
  expect_all(all);
}

// At any moment of it, with somebody who follows.
TEST_F(LongStreamTest, KilledWhileItFinishesNothingIsLostAndNothingComesTwice) {
  std::mt19937 random(20261124);
  int unfinished = 0;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    for (const std::string& name : dir_.list()) fs::remove_all(dir_.file(name));
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      TraceDatWriter writer = create_writer(path_, 2);
      append_all(writer);
      std::ignore = writer.publish(1000 + kEvents);
      std::ignore = ::write(ready[1], "x", 1);
      std::ignore = writer.finish();
      ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    TraceDatReader follower = TraceDatReader::open(path_).value();
    follower.follow();
    ::usleep(static_cast<useconds_t>(random() % 1500));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    ReadResult followed = read_all(follower);
    for (bool grows = true; grows;) {
      const auto growth = follower.look_again();
      ASSERT_TRUE(growth) << growth.error().message;
      grows = *growth == TraceDatReader::Growth::kGrows;
      for (KeptRecord& record : read_all(follower).records) followed.records.push_back(std::move(record));
    }
    expect_all(followed);
    expect_all();
    if (!trace_dat::is_journal(trace_dat::InputFile::open(path_).value())) continue;
    ++unfinished;
    ASSERT_EQ(message_of(complete_recording(path_)), "");
    EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
    expect_all();
  }
  RecordProperty("unfinished", unfinished);
}

}  // namespace
}  // namespace landtrace::output
