#include "output/trace_dat/page_builder.hpp"

#include "output/trace_dat/test_support.hpp"

namespace landtrace::output::trace_dat {
namespace {

std::uint32_t word(std::span<const std::byte> page, std::size_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, page.data() + offset, sizeof value);
  return value;
}

std::uint64_t double_word(std::span<const std::byte> page, std::size_t offset) {
  return word(page, offset) | std::uint64_t{word(page, offset + 4)} << 32;
}

TEST(PageBuilderTest, ShortEntryHasItsLengthInTheType) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append(number_record(5000, 0, 7, -3)));
  const auto page = builder.finish();
  ASSERT_EQ(page.size(), 16u + 4 + 12);
  EXPECT_EQ(double_word(page, 0), 5000u);
  EXPECT_EQ(double_word(page, 8), 16u);    // commit
  EXPECT_EQ(word(page, 16), 3u);           // 3 words, delta 0
  EXPECT_EQ(word(page, 20), kNumberId);    // flags and preempt count 0
  EXPECT_EQ(word(page, 24), 0xfffffffdu);  // tid
  EXPECT_EQ(word(page, 28), 7u);
}

TEST(PageBuilderTest, PayloadIsPaddedWithZeros) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append({1, 0, 1, 2, bytes_of(std::string(200, 'x'))}));
  builder.clear();
  ASSERT_TRUE(builder.append({1, 0, 1, 2, bytes_of(std::string("A"))}));
  EXPECT_EQ(word(builder.finish(), 28), std::uint32_t{'A'});
}

TEST(PageBuilderTest, EntryAbove112BytesHasALengthWord) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append({1, 0, 1, 2, bytes_of(std::string(105, 'x'))}));
  const auto page = builder.finish();
  EXPECT_EQ(word(page, 16), 0u);
  EXPECT_EQ(word(page, 20), 116u + 4);
  EXPECT_EQ(page.size(), 16u + 8 + 116);
}

TEST(PageBuilderTest, TimeIsADeltaUpTo27Bits) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append(number_record(1000, 0, 1)));
  ASSERT_TRUE(builder.append(number_record(1000 + kMaxDelta, 0, 2)));
  EXPECT_EQ(word(builder.finish(), 32), 0xffffffe3u);
}

TEST(PageBuilderTest, LongerDeltaGetsATimeExtend) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append(number_record(1000, 0, 1)));
  ASSERT_TRUE(builder.append(number_record(1000 + kMaxDelta + 2, 0, 2)));
  const auto page = builder.finish();
  EXPECT_EQ(word(page, 32), 1u << 5 | kTypeTimeExtend);
  EXPECT_EQ(word(page, 36), 1u);
  EXPECT_EQ(word(page, 40), 3u);
}

TEST(PageBuilderTest, EarlierTimeGetsATimeStamp) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append(number_record(1000, 0, 1)));
  ASSERT_TRUE(builder.append(number_record(900, 0, 2)));
  const auto page = builder.finish();
  EXPECT_EQ(word(page, 32), 900u << 5 | kTypeTimeStamp);
  EXPECT_EQ(word(page, 36), 0u);
}

TEST(PageBuilderTest, TimeThatNoWordCanTellNeedsANewPage) {
  PageBuilder builder;
  ASSERT_TRUE(builder.append(number_record(1000, 0, 1)));
  EXPECT_FALSE(builder.append(number_record(std::uint64_t{1} << 62, 0, 2)));
}

TEST(PageBuilderTest, LostCountStandsBehindTheEvents) {
  PageBuilder builder;
  builder.set_lost(9);
  ASSERT_TRUE(builder.append(number_record(1000, 0, 1)));
  const auto page = builder.finish();
  EXPECT_EQ(double_word(page, 8), kMissedEvents | kMissedStored | 16);
  EXPECT_EQ(double_word(page, 32), 9u);
}

TEST(PageBuilderTest, UnknownLostCountIsOnlyAFlag) {
  PageBuilder builder;
  builder.set_lost(kLostUnknown);
  ASSERT_TRUE(builder.append(number_record(1000, 0, 1)));
  EXPECT_EQ(double_word(builder.finish(), 8), kMissedEvents | 16);
}

TEST(PageBuilderTest, FullPageHasRoomForTheLostCount) {
  PageBuilder builder;
  builder.set_lost(1);
  while (builder.append(number_record(1000, 0, 1))) continue;
  EXPECT_LE(builder.finish().size(), kPageSize);
  EXPECT_GT(builder.finish().size(), kPageSize - 16);
}

TEST(PageBuilderTest, LargestPayloadFitsAnEmptyPage) {
  PageBuilder builder;
  EXPECT_TRUE(builder.append({1, 0, 1, 2, bytes_of(std::string(kMaxPayload, 'x'))}));
}

}  // namespace
}  // namespace landtrace::output::trace_dat
