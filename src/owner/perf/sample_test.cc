// Records as perf_event_open(2) lays them out, byte by byte.
#include "perf/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace landtrace::perf {
namespace {

using testing::ElementsAre;

template <typename T>
T at(const Bytes& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<std::uint64_t> words(const Bytes& bytes, std::size_t from = 8) {
  std::vector<std::uint64_t> all;
  for (std::size_t offset = from; offset < bytes.size(); offset += 8) all.push_back(at<std::uint64_t>(bytes, offset));
  return all;
}

class SampleTest : public testing::Test {
 protected:
  SampleTest() {
    facts_.pid = 10;
    facts_.tid = 11;
    facts_.time = 12;
    facts_.cpu = 13;
    facts_.id = 14;
    facts_.period = 15;
    facts_.type = 0x4000;
    facts_.payload = payload_;
  }
  const Bytes& sample(std::uint64_t type) {
    attr_.sample_type = type;
    make_sample(bytes_, attr_, facts_);
    EXPECT_EQ(at<std::uint32_t>(bytes_, 0), std::uint32_t{PERF_RECORD_SAMPLE});
    EXPECT_EQ(at<std::uint16_t>(bytes_, 6), bytes_.size());
    EXPECT_EQ(bytes_.size() % 8, 0u);
    return bytes_;
  }

  const std::byte payload_[5] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  perf_event_attr attr_{};
  SampleFacts facts_;
  Bytes bytes_;
};

constexpr std::uint64_t kPidAndTid = 10 | 11ull << 32;

TEST_F(SampleTest, HasItsPartsInTheKernelsOrder) {
  EXPECT_THAT(
      words(sample(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                   PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)),
      ElementsAre(14, 0, kPidAndTid, 12, 0, 14, 14, 13, 15));
}

TEST_F(SampleTest, RawIsTheEntryPaddedSoThatTheRecordsSizeIsAMultipleOfEight) {
  const Bytes& bytes = sample(PERF_SAMPLE_RAW);
  EXPECT_EQ(at<std::uint32_t>(bytes, 8), 20u);  // 8 of a header and 5, and 4 of the size: 24 with what is padded
  EXPECT_EQ(at<std::uint16_t>(bytes, 12), 0x4000);
  EXPECT_EQ(at<std::uint32_t>(bytes, 16), 11u);
  EXPECT_EQ(std::memcmp(bytes.data() + 20, payload_, 5), 0);
  EXPECT_EQ(bytes.size(), 32u);
}

TEST_F(SampleTest, AStackBeginsWithTheContext) {
  const std::uint64_t frames[] = {0x1000, 0x2000};
  facts_.frames = frames;
  EXPECT_THAT(words(sample(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN)),
              ElementsAre(0x1000, 3, static_cast<std::uint64_t>(PERF_CONTEXT_USER), 0x1000, 0x2000));
  facts_.frames = {};
  EXPECT_THAT(words(sample(PERF_SAMPLE_CALLCHAIN)), ElementsAre(0));
}

TEST_F(SampleTest, WithoutAStackItIsWhereItsEventSays) {
  facts_.address = 0x3000;
  EXPECT_THAT(words(sample(PERF_SAMPLE_IP)), ElementsAre(0x3000));
  const std::uint64_t frames[] = {0x1000};
  facts_.frames = frames;
  EXPECT_THAT(words(sample(PERF_SAMPLE_IP)), ElementsAre(0x1000));
}

TEST_F(SampleTest, WhatAnEventHasNotIsEmpty) {
  EXPECT_THAT(words(sample(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT)), ElementsAre(0, 0, 0));
}

TEST_F(SampleTest, ARecordThatIsNoSampleEndsWithWhereItComesFrom) {
  attr_.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW;
  make_lost(bytes_, attr_, facts_, 99);
  EXPECT_THAT(words(bytes_), ElementsAre(14, 99));
  attr_.sample_id_all = 1;
  make_lost(bytes_, attr_, facts_, 99);
  EXPECT_THAT(words(bytes_), ElementsAre(14, 99, kPidAndTid, 12, 13, 14));
  make_name(bytes_, attr_, facts_, "12345678");
  EXPECT_EQ(bytes_.size(), 8u + 8 + 16 + 32) << "a name and its NUL are padded to 16";
  EXPECT_STREQ(reinterpret_cast<const char*>(bytes_.data() + 16), "12345678");
}

TEST_F(SampleTest, AMappingHasABuildIdOrNone) {
  attr_.mmap2 = 1;
  const std::string id(20, 'x');
  make_mapping(bytes_, attr_, facts_, {0x1000, 0x2000, 0x3000, "/bin/x", id});
  EXPECT_EQ(at<std::uint32_t>(bytes_, 0), std::uint32_t{PERF_RECORD_MMAP2});
  EXPECT_EQ(at<std::uint16_t>(bytes_, 4), PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
  EXPECT_EQ(at<std::uint32_t>(bytes_, 40), 20u);
  EXPECT_STREQ(reinterpret_cast<const char*>(bytes_.data() + 72), "/bin/x");
  attr_.mmap2 = 0;
  make_mapping(bytes_, attr_, facts_, {0x1000, 0x2000, 0x3000, "/bin/x", id});
  EXPECT_EQ(at<std::uint32_t>(bytes_, 0), std::uint32_t{PERF_RECORD_MMAP});
  EXPECT_STREQ(reinterpret_cast<const char*>(bytes_.data() + 40), "/bin/x");
}

TEST(ReadingTest, IsOfOneEventOrOfItsGroup) {
  const Reading group[] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  EXPECT_THAT(make_reading(0, group), ElementsAre(1));
  EXPECT_THAT(
      make_reading(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PERF_FORMAT_LOST,
                   group),
      ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(make_reading(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID, group),
              ElementsAre(2, 3, 1, 4, 6, 9));
}

}  // namespace
}  // namespace landtrace::perf
