#include "fleet/own_frames.hpp"

#include <gtest/gtest.h>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

class OwnFramesTest : public ::testing::Test {
 protected:
  static metrics::HistogramFigures counted(const std::string& field, std::uint64_t hits) {
    metrics::HistogramFigures figures{.instance = "", .event = "user_events:job", .table = {}};
    figures.table.trigger = "hist:keys=" + field + ":vals=hitcount";
    figures.table.keys = {{ipc::KeyKind::kUnsigned, field, 0, 0}};
    figures.table.rows = {{{{7, "", {}}}, hits, {}}};
    figures.table.hits = hits;
    return figures;
  }
  std::vector<Frame> take(const std::vector<metrics::HistogramFigures>& histograms) {
    std::vector<Frame> frames;
    for (const Outbox::Letter& letter : own_.take(histograms, ++now_ns_)) {
      auto frame = decode_frame(letter.bytes);
      EXPECT_TRUE(frame);
      EXPECT_EQ(letter.subject, subject_of(*frame));
      frames.push_back(*std::move(frame));
    }
    return frames;
  }

  const AgentOptions options_{.socket = "", .address = {}, .host = "h", .domain = "d", .histograms = {"*:*"}};
  const std::string boot_ = "boot";
  std::uint64_t now_ns_ = 1000;
  OwnFrames own_{options_, boot_, now_ns_};
};

TEST_F(OwnFramesTest, WhatHasChangedIsSent) {
  EXPECT_EQ(take({counted("a", 1), counted("b", 1)}).size(), 2u);
  const auto frames = take({counted("a", 1), counted("b", 2)});
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].table.hits, 2u);
  EXPECT_EQ(frames[0].sequence, 2u);
  own_.send_all_again();
  EXPECT_EQ(take({counted("a", 1), counted("b", 2)}).size(), 2u);
}

TEST_F(OwnFramesTest, WhatHasGoneIsSentOnceMoreAndEmpty) {
  take({counted("a", 1)});
  const auto gone = take({});
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_TRUE(gone[0].is_last);
  EXPECT_TRUE(gone[0].table.keys.empty());
  EXPECT_EQ(take({}).size(), 0u);
}

TEST_F(OwnFramesTest, AndAgainUntilThereIsRoomForThat) {
  const auto first = take({counted("a", 1)});
  for (std::uint64_t sequence = 2; sequence < 5; ++sequence) {
    const auto gone = take({});
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_TRUE(gone[0].is_last);
    EXPECT_EQ(gone[0].generation, first.at(0).generation);
    EXPECT_EQ(gone[0].sequence, sequence);
    own_.send_all_again();  // there was none
  }
  take({});
  EXPECT_EQ(take({}).size(), 0u);
}

TEST_F(OwnFramesTest, WhatIsThereAgainBeginsAnew) {
  for (const bool has_room : {true, false}) {
    const auto first = take({counted("a", 1)});
    take({});
    if (!has_room) own_.send_all_again();
    const auto again = take({counted("a", 5)});
    ASSERT_EQ(again.size(), 1u);
    EXPECT_FALSE(again[0].is_last);
    EXPECT_GT(again[0].generation, first.at(0).generation);
    EXPECT_EQ(again[0].sequence, 1u);
    take({});
  }
}

// Readers take the newest generation, and none from before the agent began.
TEST_F(OwnFramesTest, AClockThatIsSetBackMakesNoOlderGenerations) {
  const std::uint64_t started_ns = now_ns_;
  now_ns_ = 200;
  const auto first = take({counted("a", 5)});
  EXPECT_GT(first.at(0).generation, started_ns);
  now_ns_ = 100;
  const auto cleared = take({counted("a", 1), counted("b", 1)});
  ASSERT_EQ(cleared.size(), 2u);
  EXPECT_GT(cleared[0].generation, first[0].generation);
  EXPECT_GT(cleared[1].generation, first[0].generation);
}

}  // namespace
}  // namespace landtrace::fleet
