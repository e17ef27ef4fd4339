#include "cli/trace_file_sink.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class TraceFileSinkTest : public testing::Test {
 protected:
  TraceFileSink sink(const std::vector<std::string>& patterns = {}) {
    return {output::create_writer(path_, 1), *reader::EventFilter::parse(patterns)};
  }
  output::TraceDatReader reader() {
    auto opened = output::TraceDatReader::open(path_);
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }

  output::TempDir dir_;
  std::string path_ = dir_.file("t.dat");
  output::EventType number_ = output::number_type();
  output::EventType other_ = output::make_type(1, "other u32 n");
};

TEST_F(TraceFileSinkTest, EventsTasksAndLossesAreInTheFile) {
  TraceFileSink file = sink();
  file.type(number_);
  file.task(100, {"app", 90});
  file.event(output::number_record(1000, 0, 7), number_);
  file.lost(0, 3);
  file.event(output::number_record(2000, 0, 8), number_);
  EXPECT_EQ(file.written(), 2u);
  EXPECT_GT(file.bytes(), 0u);
  ASSERT_TRUE(file.finish());
  EXPECT_EQ(reader().tasks().at(100).comm, "app");
  const auto read = output::read_file_records(path_);
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_EQ(read.records[0].number(), 7u);
  EXPECT_EQ(read.records[1].lost, 3u);
}

TEST_F(TraceFileSinkTest, OnlyWantedEventsAreDescribedBeforehand) {
  TraceFileSink file = sink({"number"});
  file.type(number_);
  file.type(other_);
  ASSERT_TRUE(file.finish());
  EXPECT_EQ(reader().events().count(number_.id), 1u);
  EXPECT_EQ(reader().events().count(other_.id), 0u);
}

TEST_F(TraceFileSinkTest, AnEventThatWasNotDescribedIsWhenItComes) {
  TraceFileSink file = sink({"number"});
  constexpr std::uint32_t kNumber = 7;
  output::Record record = output::number_record(1000, 0, kNumber);
  record.event_id = other_.id;
  file.event(record, other_);
  ASSERT_TRUE(file.finish());
  EXPECT_EQ(reader().events().at(other_.id).name, "other");
}

TEST_F(TraceFileSinkTest, WhenTheDiskIsFullTheRestIsCounted) {
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  TraceFileSink file = sink();
  file.type(number_);
  constexpr std::uint64_t kRoom = 256 * 1024;
  const rlimit little{kRoom, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  std::uint32_t given = 0;
  for (; !file.failure() && given < 1'000'000; ++given)
    file.event(output::number_record(1000 + given, 0, given), number_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  ::signal(SIGXFSZ, before);
  ASSERT_TRUE(file.failure());
  EXPECT_EQ(file.failure()->code, EFBIG);
  EXPECT_EQ(file.unwritten(), 1u);
  file.event(output::number_record(1000 + given, 0, given), number_);
  EXPECT_EQ(file.unwritten(), 2u);
  EXPECT_EQ(file.written() + 1, given);
  std::ignore = file.finish();
}

}  // namespace
}  // namespace landtrace::cli
