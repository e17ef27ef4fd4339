#include "output/export/spans.hpp"

#include <gtest/gtest.h>

namespace landtrace::output {
namespace {

EventType type_of(std::uint16_t id, const char* declaration) {
  EventType type;
  type.id = id;
  type.system = "user_events";
  type.declaration = *event::parse_declaration(declaration);
  type.name = type.declaration.name;
  return type;
}

class SpanFinderTest : public testing::Test {
 protected:
  // "begin-end/tid key[n]", where n: in the thread's own lane.
  std::string add(const EventType& type, std::uint64_t time, std::int32_t tid, std::uint32_t id) {
    const Record record{
        .time_ns = time, .cpu = 0, .tid = tid, .event_id = type.id, .payload = std::as_bytes(std::span(&id, 1))};
    std::string text;
    for (const Span& span : finder_.add({record, type}, 100)) {
      text += std::to_string(span.begin_ns) + '-' + std::to_string(span.end_ns) + '/' + std::to_string(span.tid) + ' ' +
              span.key + (span.is_nested ? "n" : "");
    }
    return text;
  }

  EventType from_ = type_of(1, "from u32 id");
  EventType to_ = type_of(2, "to u16 id; u16 rest");
  EventType lap_ = type_of(3, "lap u32 n");
  EventType enter_ = type_of(4, "enter u32 n");
  EventType leave_ = type_of(5, "leave u32 n");
  SpanFinder finder_{{{"user_events:from", "user_events:to", "id"},
                      {"user_events:lap", "user_events:lap", ""},
                      {"user_events:enter", "user_events:leave", ""}}};
};

TEST_F(SpanFinderTest, TheSameKeyEndsIt) {
  EXPECT_EQ(add(from_, 10, 1, 7), "");
  EXPECT_EQ(add(from_, 11, 1, 8), "");
  EXPECT_EQ(finder_.begins_without_end(), 2u);
  EXPECT_EQ(add(to_, 15, 1, 8), "11-15/1 8n");
  EXPECT_EQ(add(to_, 16, 1, 7), "10-16/1 7n");
  EXPECT_EQ(finder_.begins_without_end(), 0u);
  EXPECT_EQ(finder_.ends_without_begin(), 0u);
}

TEST_F(SpanFinderTest, WhatOverlapsOrMovesIsNotInTheThreadsLane) {
  add(from_, 10, 1, 7);
  add(from_, 11, 1, 8);
  EXPECT_EQ(add(to_, 15, 1, 7), "10-15/1 7");
  EXPECT_EQ(add(to_, 16, 2, 8), "11-16/1 8");
}

TEST_F(SpanFinderTest, AnEndWithoutABeginIsCounted) {
  EXPECT_EQ(add(to_, 15, 1, 7), "");
  EXPECT_EQ(finder_.ends_without_begin(), 1u);
}

TEST_F(SpanFinderTest, OneThatBeginsAgainHasNoEnd) {
  add(from_, 10, 1, 7);
  EXPECT_EQ(add(from_, 12, 2, 7), "");
  EXPECT_EQ(finder_.begins_without_end(), 2u);
  EXPECT_EQ(add(to_, 15, 2, 7), "12-15/2 7n");
  EXPECT_EQ(finder_.begins_without_end(), 1u);
  EXPECT_EQ(finder_.complaint(), "spans without an end: 1; ends without a begin: 0");
}

TEST_F(SpanFinderTest, WithoutAKeyThoseOfAThreadAreNestedLikeCalls) {
  add(enter_, 10, 1, 0);
  add(enter_, 11, 1, 0);
  add(enter_, 12, 2, 0);
  add(enter_, 13, 1, 0);
  EXPECT_EQ(finder_.begins_without_end(), 4u);
  EXPECT_EQ(add(leave_, 14, 1, 0), "13-14/1 1n");
  EXPECT_EQ(add(leave_, 15, 1, 0), "11-15/1 1n");
  EXPECT_EQ(add(leave_, 16, 2, 0), "12-16/2 2n");
  EXPECT_EQ(add(leave_, 17, 1, 0), "10-17/1 1n");
  EXPECT_EQ(finder_.complaint(), "");
  EXPECT_EQ(add(leave_, 18, 1, 0), "");
  EXPECT_EQ(finder_.complaint(), "spans without an end: 0; ends without a begin: 1");
}

TEST_F(SpanFinderTest, AnEndOfWhatWasLeftOutEndsNothing) {
  constexpr std::uint64_t kTooMany = (1 << 20) + 2;
  for (std::uint64_t i = 0; i < kTooMany; ++i) add(enter_, 10 + i, 1, 0);
  EXPECT_EQ(finder_.begins_without_end(), 1u << 20);
  EXPECT_EQ(add(leave_, 2'000'000, 1, 0), "");
  EXPECT_EQ(add(leave_, 2'000'001, 1, 0), "");
  EXPECT_EQ(add(leave_, 2'000'002, 1, 0), "1048585-2000002/1 1n");
}

TEST_F(SpanFinderTest, OneEventMayEndAndBegin) {
  EXPECT_EQ(add(lap_, 10, 1, 0), "");
  EXPECT_EQ(add(lap_, 12, 2, 0), "");
  EXPECT_EQ(add(lap_, 15, 1, 0), "10-15/1 1n");
  EXPECT_EQ(add(lap_, 19, 1, 0), "15-19/1 1n");
  EXPECT_EQ(finder_.ends_without_begin(), 0u);
}

TEST_F(SpanFinderTest, ASpanIsNeverNegative) {
  add(from_, 10, 1, 7);
  EXPECT_EQ(add(to_, 9, 1, 7), "10-10/1 7n");
}

TEST_F(SpanFinderTest, OthersEventsAreNone) {
  EventType other = type_of(1, "from u32 id");
  other.system = "synthetic";
  EXPECT_EQ(add(other, 10, 1, 7), "");
  EventType longer = type_of(1, "from_there u32 id");
  EXPECT_EQ(add(longer, 10, 1, 7), "");
  EXPECT_EQ(finder_.begins_without_end(), 0u);
}

}  // namespace
}  // namespace landtrace::output
