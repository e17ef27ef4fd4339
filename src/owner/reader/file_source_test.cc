#include "reader/file_source.hpp"

#include "output/trace_dat/test_support.hpp"

namespace landtrace::reader {
namespace {

using output::kNumberId;
using testing::Each;
using testing::SizeIs;

constexpr std::uint16_t kOtherId = 7;

class FileSourceTest : public testing::Test {
 protected:
  output::TraceDatWriter begin() {
    output::TraceDatWriter writer = output::create_writer(path_, 2);
    writer.add_event(output::number_type());
    writer.add_event(output::make_type(kOtherId, "other u32 m"));
    return writer;
  }
  void put(output::TraceDatWriter& writer, std::uint16_t id, std::uint32_t cpu = 0) {
    output::Record record = output::number_record(++time_ns_, cpu, number_);
    record.event_id = id;
    ASSERT_EQ(output::message_of(writer.append(record)), "");
  }
  std::unique_ptr<FileSource> open(const std::string& pattern) {
    return FileSource::open(path_, {*EventFilter::parse({pattern}), ExpressionFilter("")}).value();
  }

  output::TempDir folder_;
  std::string path_ = folder_.file("t.dat");
  std::uint64_t time_ns_ = 1000;
  std::uint32_t number_ = 5;
};

TEST_F(FileSourceTest, ASearchIsInterruptedNowAndThenForWhoWaits) {
  output::TraceDatWriter writer = begin();
  for (int i = 0; i < 10'000; ++i) put(writer, kNumberId);
  put(writer, kOtherId);
  ASSERT_EQ(output::message_of(writer.finish()), "");
  const auto source = open("other");
  std::vector<Source::Answer> answers;
  Event event;
  do {
    answers.push_back(source->next(event).value());
  } while (answers.back() == Source::Answer::kSearching);
  EXPECT_EQ(answers.back(), Source::Answer::kEvent);
  answers.pop_back();
  EXPECT_THAT(answers, testing::AllOf(SizeIs(testing::Ge(2u)), Each(Source::Answer::kSearching)));
}

// Before an event that nobody chose: it is told with its CPU's next one that somebody did.
TEST_F(FileSourceTest, WhatWasLostBeforeEventsThatAreNotWantedIsToldOfTheNextOneOfTheCpu) {
  output::TraceDatWriter writer = begin();
  put(writer, kNumberId);
  writer.lost(0, 1000);
  put(writer, kOtherId);
  put(writer, kNumberId, 1);
  writer.lost(0, 20);
  put(writer, kNumberId);
  put(writer, kNumberId);
  ASSERT_EQ(output::message_of(writer.finish()), "");
  const auto source = open("number");
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lost;
  for (Event event; source->next(event).value() == Source::Answer::kEvent;) {
    lost.emplace_back(event.record.cpu, event.lost);
  }
  EXPECT_THAT(lost, testing::ElementsAre(testing::Pair(0, 0), testing::Pair(1, 0), testing::Pair(0, 1020),
                                         testing::Pair(0, 0)));
  EXPECT_EQ(source->lost_so_far(), 1020u);
}

}  // namespace
}  // namespace landtrace::reader
