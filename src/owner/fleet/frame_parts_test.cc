#include "fleet/frame_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fleet/frame.hpp"
#include "fleet/snapshot_parts.hpp"
#include "fleet/sums.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::size_t kSmall = 200;

// Has counted `hits` so far, in rows that differ.
Frame frame_of(const std::string& host, std::uint64_t sequence, std::uint64_t hits) {
  Frame frame;
  frame.host = host;
  frame.boot = "b";
  frame.domain = "system";
  frame.order = "o";
  frame.event = "u:e";
  frame.generation = 1;
  frame.sequence = sequence;
  frame.table.keys = {{ipc::KeyKind::kText, "route", 0}};
  for (std::uint64_t i = 0; i < hits; ++i) {
    frame.table.rows.push_back({{{0, "a route with a number " + std::to_string(i), {}}}, 1, {}});
  }
  frame.table.hits = hits;
  return frame;
}

using Message = Outbox::Letter;

std::vector<Message> cut(const Frame& frame, std::size_t most_bytes = kSmall) {
  std::vector<Message> parts = *in_parts({subject_of(frame), encode(frame)}, most_bytes);
  for (const Message& part : parts) EXPECT_LE(part.bytes.size(), most_bytes);
  return parts;
}

void add(Sums& sums, const std::vector<Message>& messages) {
  for (const Message& one : messages) ASSERT_TRUE(sums.add(one.subject, one.bytes));
}

std::uint64_t hits_of(const Sums& sums) {
  std::uint64_t hits = 0;
  for (const Sum& sum : sums.of("o")) hits += sum.table.hits;
  return hits;
}

TEST(FramePartsTest, AFrameIsThereWithItsLastPart) {
  const Frame frame = frame_of("a", 1, 30);
  const std::vector<Message> parts = cut(frame);
  ASSERT_GT(parts.size(), 5u);
  FrameParts together;
  for (const Message& part : parts) {
    EXPECT_EQ(*whole_of(part.subject), subject_of(frame));
    const auto whole = together.add(subject_of(frame), part.bytes);
    ASSERT_TRUE(whole);
    ASSERT_EQ(whole->has_value(), &part == &parts.back());
    if (*whole) {
      EXPECT_EQ(*decode_frame(**whole), frame);
    }
  }
  EXPECT_EQ(together.bytes(), 0u);
}

TEST(FramePartsTest, TheNewestWholeOneCounts) {
  Sums sums;
  add(sums, cut(frame_of("a", 1, 30)));
  std::vector<Message> newer = cut(frame_of("a", 2, 40));
  const Message missing = newer[3];
  newer.erase(newer.begin() + 3);
  add(sums, newer);
  EXPECT_EQ(hits_of(sums), 30u) << "not all of the second one";
  add(sums, {missing});
  EXPECT_EQ(hits_of(sums), 40u);
  add(sums, cut(frame_of("a", 1, 30)));
  EXPECT_EQ(hits_of(sums), 40u);
  const Frame small = frame_of("a", 3, 41);
  EXPECT_EQ(*sums.add(subject_of(small), encode(small)), Sums::Was::kNews) << "whole: servers may be given more room";
  EXPECT_EQ(hits_of(sums), 41u);
}

// A server that comes back may allow less: what is left of a frame is cut once more.
TEST(FramePartsTest, APartIsCutAgain) {
  const Frame frame = frame_of("a", 1, 40);
  Sums sums;
  std::size_t count = 0;
  for (const Message& part : cut(frame, 400)) {
    const std::vector<Message> smaller = *in_parts(part, 150);
    count += smaller.size();
    for (const Message& one : smaller) EXPECT_LE(one.bytes.size(), 150u);
    add(sums, smaller);
  }
  EXPECT_GT(count, cut(frame, 400).size());
  EXPECT_EQ(hits_of(sums), 40u);
}

// Servers differ in what a message may be: what is sent again may be cut at other places.
TEST(FramePartsTest, PartsMayOverlap) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const Frame frame = frame_of("a", 1, 40);
    std::vector<Message> messages;
    for (const std::size_t size : {150u, 333u, 400u}) {
      const std::vector<Message> parts = cut(frame, size);
      for (const Message& part : parts) {
        if (random() % 3 != 0) messages.push_back(part);
      }
    }
    for (const Message& part : cut(frame, 129)) messages.push_back(part);
    std::ranges::shuffle(messages, random);
    Sums sums;
    add(sums, messages);
    ASSERT_EQ(hits_of(sums), 40u);
  }
}

// Of 10 hosts' growing frames a third of the parts is lost, some come twice, none in order: what counts is a frame
// that they sent, and once the last frames are there, the sum is what they counted.
TEST(FramePartsTest, LostRepeatedAndShuffledPartsOfSeveralFramesChangeNothing) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Message> sent, last;
    for (int host = 0; host < 10; ++host) {
      for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) {
        for (const Message& part : cut(frame_of("h" + std::to_string(host), sequence, 10 * sequence))) {
          for (auto times = random() % 3; times > 0; --times) sent.push_back(part);
          if (sequence == 6) last.push_back(part);
        }
      }
    }
    std::ranges::shuffle(sent, random);
    Sums sums;
    add(sums, sent);
    for (const Sum& sum : sums.of("o", {"host"})) ASSERT_EQ(sum.table.hits % 10, 0u) << "of whole frames alone";
    std::ranges::shuffle(last, random);
    add(sums, last);
    ASSERT_EQ(hits_of(sums), 600u);
  }
}

TEST(FramePartsTest, WhatMakesNoSenseIsRefused) {
  const Frame frame = frame_of("a", 1, 30);
  const std::vector<Message> parts = cut(frame);
  FrameParts together;
  const std::string subject = subject_of(frame);
  for (std::size_t size = 0; size < parts[0].bytes.size(); ++size) {
    EXPECT_FALSE(together.add(subject, std::string_view(parts[0].bytes).substr(0, size)));
  }
  EXPECT_FALSE(together.add(subject, "nonsense"));
  EXPECT_FALSE(together.add(subject, encode(FramePart{1, 10, 0, 5, "beyond"})));
  EXPECT_FALSE(together.add(subject, encode(FramePart{1, 10, 0, ~0ull, "x"})));
  EXPECT_FALSE(together.add(subject, encode(FramePart{1, kMostFrameBytes + 1, 0, 0, "x"})));
  EXPECT_FALSE(together.add(subject, encode(FramePart{1, 4, 7, 0, "hash"}))) << "all there, but nothing that was sent";
  EXPECT_EQ(together.bytes(), 0u);
  // What is together is no frame of that subject.
  Sums sums;
  const std::string other = subject_of(frame_of("b", 1, 30));
  bool is_refused = false;
  for (const Message& part : parts) is_refused = !sums.add(part_subject(other, 0), part.bytes) || is_refused;
  EXPECT_TRUE(is_refused);
  EXPECT_EQ(hits_of(sums), 0u);
  EXPECT_FALSE(in_parts({subject, "\xff"}, 1000));
  EXPECT_FALSE(in_parts({part_subject(subject, 0), "nonsense"}, 1000));
  EXPECT_FALSE(in_parts({"landtrace.system.a.status", encode(frame)}, 1000)) << "of all else nobody would take parts";
  EXPECT_FALSE(in_parts({subject, encode(frame)}, kFramePartHead));
}

// Whoever may publish as one host, in however many of its domains, orders and generations.
TEST(FramePartsTest, OneHostCannotTakeTheRoomOfOthers) {
  constexpr std::size_t kHost = 64 * 1024;
  FrameParts together({.frames = 8, .host_bytes = kHost, .all_bytes = 1u << 30});
  Frame good = frame_of("good", 1, 30);
  std::vector<Message> parts = cut(good);
  const Message missing = parts.back();
  parts.pop_back();
  for (const Message& part : parts) ASSERT_FALSE(together.add(subject_of(good), part.bytes)->has_value());
  const std::size_t of_good = together.bytes();
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    Frame evil = frame_of("evil", random() % 16, 0);
    evil.domain = "d" + std::to_string(random() % 100);
    evil.order = "o" + std::to_string(random() % 100);
    evil.generation = random() % 10;
    ASSERT_TRUE(together.add(subject_of(evil), encode(FramePart{random(), 1 << 20, random(), random() % 1000, "x"})));
    ASSERT_LE(together.bytes(), of_good + kHost + 2048);
  }
  EXPECT_GT(together.bytes(), of_good + kHost / 2);
  EXPECT_TRUE(together.add(subject_of(good), missing.bytes)->has_value());
}

TEST(FramePartsTest, AllTogetherHaveABoundToo) {
  constexpr std::size_t kAll = 256 * 1024;
  FrameParts together({.frames = 8, .host_bytes = 64 * 1024, .all_bytes = kAll});
  for (int i = 0; i < 5000; ++i) {
    const Frame frame = frame_of("h" + std::to_string(i), 1, 0);
    ASSERT_TRUE(together.add(subject_of(frame), encode(FramePart{1, 1000, 1, 0, "x"})));
    ASSERT_LE(together.bytes(), kAll + 1024);
  }
}

TEST(FramePartsTest, OfAHistogramTheNewestIncompleteOnesAreKept) {
  FrameParts together({.frames = 2, .host_bytes = 1u << 20, .all_bytes = 1u << 20});
  std::vector<std::vector<Message>> frames;
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) frames.push_back(cut(frame_of("a", sequence, 30)));
  const std::string subject = subject_of(frame_of("a", 1, 30));
  const auto without_last = [&](const std::vector<Message>& parts) {
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) EXPECT_FALSE(together.add(subject, parts[i].bytes)->has_value());
  };
  for (const auto& parts : frames) without_last(parts);
  EXPECT_FALSE(together.add(subject, frames[0].back().bytes)->has_value()) << "the oldest one had to go";
  EXPECT_TRUE(together.add(subject, frames[1].back().bytes)->has_value());
  EXPECT_TRUE(together.add(subject, frames[2].back().bytes)->has_value());
  EXPECT_EQ(together.bytes(), 0u);
}

}  // namespace
}  // namespace landtrace::fleet
