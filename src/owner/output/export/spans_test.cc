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
  SpanFinder finder_{{{"user_events:from", "user_events:to", "id"}, {"user_events:lap", "user_events:lap", ""}}};
};

TEST_F(SpanFinderTest, TheSameKeyEndsIt) {
  EXPECT_EQ(add(from_, 10, 1, 7), "");
  EXPECT_EQ(add(from_, 11, 1, 8), "");
  EXPECT_EQ(finder_.open(), 2u);
  EXPECT_EQ(add(to_, 15, 1, 8), "11-15/1 8n");
  EXPECT_EQ(add(to_, 16, 1, 7), "10-16/1 7n");
  EXPECT_EQ(finder_.open(), 0u);
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

TEST_F(SpanFinderTest, OneThatBeginsAgainIsForgotten) {
  add(from_, 10, 1, 7);
  EXPECT_EQ(add(from_, 12, 2, 7), "");
  EXPECT_EQ(finder_.open(), 1u);
  EXPECT_EQ(add(to_, 15, 2, 7), "12-15/2 7n");
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
  EXPECT_EQ(finder_.open(), 0u);
}

}  // namespace
}  // namespace landtrace::output
