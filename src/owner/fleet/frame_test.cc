#include "fleet/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/frame_rows.hpp"
#include "output/perfetto/proto.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;
using testing::HasSubstr;

Frame full_frame() {
  Frame frame;
  frame.host = "web-1.example.org";
  frame.boot = "0f2c";
  frame.domain = "system";
  frame.labels = "role=web,zone=a";
  frame.order = "o1";
  frame.event = "user_events:req_done";
  frame.generation = 1'700'000'000'000'000'000;
  frame.sequence = 300;
  frame.time_ns = 1'700'000'000'500'000'000;
  frame.is_last = true;
  frame.unpaired = {1, 2, 3};
  frame.table.trigger = "hist:keys=route,took.log2=32";
  frame.table.keys = {{KeyKind::kText, "route", 0},
                      {KeyKind::kSigned, "delta", 0, 0},
                      {KeyKind::kText, "user", 0},
                      {KeyKind::kSteps, "took", 32, 64}};
  frame.table.values = {{"took", false, true}, {"bytes", true}, {"kept", false, false, true}};
  frame.table.rows = {{{{0, "/", {}}, {~0ull, "", {}}, {0, "", {}}, {1024, "", {}}}, 7, {1, ~0ull, 128}},
                      {{{0, std::string("a\0b", 3), {}}, {5, "", {}}, {0, "u", {}}, {0, "", {}}}, 0, {0, 0, 0}}};
  frame.table.hits = 7;
  frame.table.dropped = 9;
  frame.slowest = {{.host = "web-2",
                    .keys = frame.table.rows[1].keys,
                    .ns = 1030,
                    .time_ns = 1'700'000'000'000'000'005,
                    .tid = -1,
                    .task = "service",
                    .fields = R"({"id":7})",
                    .stack = {"handle [service]", "", "main [service]"}},
                   {.keys = frame.table.rows[0].keys, .ns = 5}};
  return frame;
}

std::string refusal_of_frame(std::string_view bytes) {
  const auto frame = decode_frame(bytes);
  if (frame) return "";
  EXPECT_EQ(frame.error().code, EPROTO);
  return frame.error().message;
}

// Of its first row.
std::string raw_key_of(const Frame& frame) {
  std::string key;
  const auto take = [&](const RawRow& row) {
    if (key.empty()) key = row.key;
  };
  EXPECT_TRUE(for_each_row(encode(frame), frame.table.values.size(), take));
  return key;
}

TEST(FrameTest, WhatWasEncodedIsDecoded) {
  const auto decoded = decode_frame(encode(full_frame()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, full_frame());
  EXPECT_EQ(*decode_frame(encode(Frame())), Frame());
}

// Whoever shows it reads and writes it as JSON, for which each level takes some of the stack.
TEST(FrameTest, FieldsThatAreNestedWithoutEndAreRefused) {
  Frame frame = full_frame();
  frame.slowest[1].fields = std::string(30'000, '[') + std::string(30'000, ']');
  EXPECT_EQ(refusal_of_frame(encode(frame)), "a frame that makes no sense");
  frame.slowest[1].fields = R"({"text":")" + std::string(30'000, '[') + "\"}";
  EXPECT_EQ(refusal_of_frame(encode(frame)), "") << "in a text they are no levels";
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
  }
  return bytes;
}

// As protoc writes it by docs/fleet.proto: a frame of the first version is read for ever.
TEST(FrameTest, VersionOneIsReadAndWritten) {
  const std::string bytes = from_hex(
      "080112057765622d311a0462303074220673797374656d2a08726f6c653d77656232026f313a1475"
      "7365725f6576656e74733a7265715f646f6e65408080a8b1e39fe7cb1748035080cadd9fe59fe7cb"
      "1758016001680270037a3a0a0468697374120908031205726f757465120a080d1204746f6f6b1820"
      "1a080a04746f6f6b100220072801320d0a02800812012f180722028439");
  Frame frame;
  frame.host = "web-1";
  frame.boot = "b00t";
  frame.domain = "system";
  frame.labels = "role=web";
  frame.order = "o1";
  frame.event = "user_events:req_done";
  frame.generation = 1'700'000'000'000'000'000;
  frame.sequence = 3;
  frame.time_ns = 1'700'000'000'500'000'000;
  frame.is_last = true;
  frame.unpaired = {1, 2, 3};
  frame.table.trigger = "hist";
  frame.table.keys = {{KeyKind::kText, "route", 0}, {KeyKind::kSteps, "took", 32}};
  frame.table.values = {{"took", false, true}};
  frame.table.rows = {{{{0, "/", {}}, {1024, "", {}}}, 7, {7300}}};
  frame.table.hits = 7;
  frame.table.dropped = 1;
  const auto decoded = decode_frame(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, frame);
  EXPECT_EQ(encode(frame), bytes);
}

TEST(FrameTest, TextsHaveBounds) {
  const std::string most(kMostFrameText, 'x');
  Frame frame = full_frame();
  for (std::string* const text : {&frame.host, &frame.boot, &frame.labels, &frame.event}) {
    const std::string before = *text;
    *text = most;
    EXPECT_TRUE(decode_head(encode(frame)));
    *text = most + "x";
    EXPECT_THAT(refusal_of_frame(encode(frame)), HasSubstr("longer than 4 KB"));
    EXPECT_FALSE(decode_head(encode(frame)));
    EXPECT_TRUE(decode_frames(encode(std::vector{frame}))) << "sums have many names in that place";
    *text = before;
  }
  for (std::string* const name : {&frame.table.keys[1].name, &frame.table.values[0].name}) {
    const std::string before = *name;
    *name = most;
    EXPECT_TRUE(decode_frame(encode(frame)));
    *name = most + "x";
    EXPECT_FALSE(decode_frame(encode(frame)));
    EXPECT_FALSE(decode_shape(encode(frame)));
    *name = before;
  }
}

TEST(FrameTest, SeveralAreOneMessage) {
  const std::vector<Frame> frames{full_frame(), Frame(), full_frame()};
  EXPECT_EQ(*decode_frames(encode(frames)), frames);
  EXPECT_TRUE(decode_frames("")->empty());
  EXPECT_FALSE(decode_frames("x"));
}

TEST(FrameTest, AHeadIsAllButTheTable) {
  Frame frame = full_frame();
  const auto head = decode_head(encode(frame));
  ASSERT_TRUE(head);
  frame.table = {};
  frame.slowest = {};
  EXPECT_EQ(*head, frame);
}

TEST(FrameTest, WhatIsCutOffIsRefusedOrLacksItsEnd) {
  const std::string bytes = encode(full_frame());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode_frame({bytes.data(), size});
    ASSERT_TRUE(!decoded || decoded->table.rows.empty() || decoded->slowest.size() < 2) << size;
  }
}

// In memory it would take 64 times as much.
TEST(FrameTest, ATableOfAHostHasBounds) {
  Frame frame = full_frame();
  frame.table = {};
  frame.slowest = {};
  frame.table.keys.resize(64, {KeyKind::kUnsigned, "k", 0});
  EXPECT_EQ(refusal_of_frame(encode(frame)), "");
  frame.table.keys.emplace_back();
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
  frame.table.keys.resize(63);
  frame.table.rows.resize(17'000, {std::vector<ipc::HistogramKeyValue>(63), 1, {}});
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
  EXPECT_EQ(decode_frames(encode(std::vector<Frame>{frame}))->at(0).table.rows.size(), 17'000u) << "a sum has none";
}

TEST(FrameTest, OfTheSlowestAHostHasAFew) {
  Frame frame = full_frame();
  frame.slowest.resize(2 * kMostSlow, frame.slowest[0]);
  EXPECT_EQ(decode_frame(encode(frame))->slowest.size(), kMostSlow);
  EXPECT_EQ(decode_frames(encode(std::vector<Frame>{frame}))->at(0).slowest.size(), 2 * kMostSlow) << "a sum has more";
  frame.slowest.resize(3);
  frame.slowest[1].fields.assign(kMostSlowBytes, 'x');
  EXPECT_EQ(decode_frame(encode(frame))->slowest.size(), 2u);
}

TEST(FrameTest, ANewerVersionIsNamed) {
  std::string bytes;
  output::proto::put(bytes, 1, kFrameVersion + 1);
  EXPECT_THAT(refusal_of_frame(bytes), HasSubstr("version 2"));
  EXPECT_THAT(refusal_of_frame(""), HasSubstr("no sense")) << "one without a version";
}

TEST(FrameTest, FieldsThatAreNotKnownArePassedOver) {
  std::string bytes = encode(full_frame());
  output::proto::put(bytes, 99, 5);
  output::proto::put(bytes, 100, std::string_view("later"));
  output::proto::put_fixed(bytes, 101, 7);
  EXPECT_EQ(*decode_frame(bytes), full_frame());
}

TEST(FrameTest, ARowHasWhatItsTableSays) {
  Frame frame = full_frame();
  frame.table.rows[0].values.pop_back();
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
  frame = full_frame();
  frame.table.rows[0].values.push_back(1);
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
}

// Read where the table had no keys yet, it has none.
TEST(FrameTest, WhatIsSlowestHasTheKeysOfItsTableWhereverItStands) {
  constexpr std::uint32_t kTable = 15, kSlow = 16;
  Frame frame = full_frame();
  frame.slowest.clear();
  frame.table = {};
  std::string head = encode(frame);
  frame.table = full_frame().table;
  const std::string whole = encode(frame);
  std::string bytes = head;
  output::proto::put(bytes, kSlow, std::string_view(""));
  EXPECT_EQ(refusal_of_frame(bytes), "") << "of no keys";
  bytes += whole;
  EXPECT_NE(refusal_of_frame(bytes), "");
  frame = full_frame();
  frame.table.rows.clear();
  bytes = encode(frame);
  EXPECT_EQ(refusal_of_frame(bytes), "");
  output::proto::put(bytes, kTable, std::string_view("\x12\x00", 2));
  EXPECT_NE(refusal_of_frame(bytes), "") << "one more key, behind what is slowest";
}

// One number of one host would be no power of two in the sum of all.
TEST(FrameTest, ABucketIsAPowerOfTwoThatThereIs) {
  Frame frame = full_frame();
  frame.table.keys = {{KeyKind::kLog2, "took", 0}};
  frame.table.values = {};
  frame.table.rows = {{{{64, "", {}}}, 1, {}}};
  frame.slowest = {{.keys = {{64, "", {}}}, .ns = 1}};
  EXPECT_EQ(refusal_of_frame(encode(frame)), "");
  frame.table.rows[0].keys[0].number = 65;
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
  EXPECT_FALSE(row_of_key(frame.table, raw_key_of(frame)));
  frame.table.rows[0].keys[0].number = 64;
  EXPECT_TRUE(row_of_key(frame.table, raw_key_of(frame)));
  frame.slowest[0].keys[0].number = 65;
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
}

TEST(FrameTest, KindsAndWidthsAreChecked) {
  Frame frame = full_frame();
  frame.table.rows.clear();
  frame.table.keys = {{KeyKind::kSteps, "k", 33}};
  EXPECT_NE(refusal_of_frame(encode(frame)), "") << "steps are a power of two";
  frame.table.keys = {{static_cast<KeyKind>(static_cast<int>(ipc::kLastKeyKind) + 1), "k", 32}};
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
  frame.table.keys = {{KeyKind::kLog2, "k", 0, 65}};
  EXPECT_NE(refusal_of_frame(encode(frame)), "");
  frame.table.keys = {{KeyKind::kLog2, "k", 0, 64}};
  EXPECT_EQ(refusal_of_frame(encode(frame)), "");
}

// Whatever a byte becomes, it is read as something or refused: sanitizers see to it that nothing else is read.
TEST(FrameTest, AnyByteMayBeWrong) {
  const std::string bytes = encode(full_frame());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 2, 8, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      std::ignore = decode_frame(changed);
    }
  }
}

}  // namespace
}  // namespace landtrace::fleet
