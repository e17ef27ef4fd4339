#include "fleet/sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "fleet/subjects.hpp"
#include "measure/distribution.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;
using Was = Sums::Was;

constexpr std::uint64_t kSteps = 32;

Frame frame_of(const std::string& host, std::uint64_t generation, std::uint64_t sequence) {
  Frame frame;
  frame.host = host;
  frame.boot = "b";
  frame.domain = "system";
  frame.labels = host == "a" ? "zone=x" : "zone=y";
  frame.order = "o";
  frame.event = "u:e";
  frame.generation = generation;
  frame.sequence = sequence;
  frame.time_ns = 100 * sequence;
  frame.table.keys = {{KeyKind::kText, "route", 0}, {KeyKind::kSteps, "took", kSteps, 0}};
  frame.table.values = {{"took"}};
  return frame;
}

// As a histogram counts it.
void count(Frame& frame, const std::string& route, std::uint64_t value) {
  const std::uint64_t width = std::max<std::uint64_t>(std::bit_floor(value) / kSteps, 1);
  const std::uint64_t step = value / width * width;
  auto row = std::ranges::find_if(frame.table.rows, [&](const ipc::HistogramRow& one) {
    return one.keys[0].text == route && one.keys[1].number == step;
  });
  if (row == frame.table.rows.end()) {
    frame.table.rows.push_back({{{0, route, {}}, {step, "", {}}}, 0, {0}});
    row = std::prev(frame.table.rows.end());
  }
  ++row->hits;
  row->values[0] += value;
  ++frame.table.hits;
}

Was add(Sums& sums, const Frame& frame) { return *sums.add(subject_of(frame), encode(frame)); }

std::uint64_t hits_of(const Sums& sums) {
  std::uint64_t hits = 0;
  for (const Sum& sum : sums.of("o")) hits += sum.table.hits;
  return hits;
}

TEST(SumsTest, TheNewestFrameSaysAll) {
  Sums sums;
  Frame frame = frame_of("a", 1, 1);
  count(frame, "/", 5);
  EXPECT_EQ(add(sums, frame), Was::kNews);
  count(frame, "/", 5);
  frame.sequence = 3;
  EXPECT_EQ(add(sums, frame), Was::kNews);
  EXPECT_EQ(hits_of(sums), 2u);
  EXPECT_EQ(add(sums, frame), Was::kKnown);
  frame.sequence = 2;
  EXPECT_EQ(add(sums, frame), Was::kOlder);
  EXPECT_EQ(hits_of(sums), 2u);
  EXPECT_EQ(sums.histograms(), 1u);
}

TEST(SumsTest, HostsBootsDomainsAndGenerationsAreAdded) {
  Sums sums;
  std::vector<Frame> frames(5, frame_of("a", 1, 1));
  frames[1].host = "b";
  frames[2].boot = "c";
  frames[3].domain = "d";
  frames[4].generation = 2;
  for (Frame& frame : frames) {
    count(frame, "/", 5);
    frame.unpaired = {1, 2, 3};
    add(sums, frame);
  }
  const Sum sum = sums.of("o").at(0);
  EXPECT_EQ(sum.table.hits, 5u);
  ASSERT_EQ(sum.table.rows.size(), 1u);
  EXPECT_EQ(sum.table.rows[0].hits, 5u);
  EXPECT_EQ(sum.table.rows[0].values, std::vector<std::uint64_t>{25});
  EXPECT_EQ(sum.unpaired, (Unpaired{5, 10, 15}));
  EXPECT_EQ(sum.hosts, 2u);
}

TEST(SumsTest, OrdersAndEventsAreApart) {
  Sums sums;
  Frame frame = frame_of("a", 1, 1);
  count(frame, "/", 5);
  add(sums, frame);
  frame.event = "u:f";
  add(sums, frame);
  frame.order = "p";
  add(sums, frame);
  ASSERT_EQ(sums.of("o").size(), 2u);
  EXPECT_EQ(sums.of("o")[0].event, "u:e");
  EXPECT_EQ(sums.of("o")[1].event, "u:f");
  EXPECT_EQ(sums.of("p").size(), 1u);
  EXPECT_TRUE(sums.of("q").empty());
}

// What 20 hosts send, with a third of it lost, some of it twice, and none of it in order: once the last frames are
// there, the sum is what they counted.
TEST(SumsTest, LostRepeatedAndReorderedFramesChangeNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Sums sums;
    std::vector<std::string> sent;
    std::vector<std::uint64_t> values;
    for (int host = 0; host < 20; ++host) {
      Frame frame = frame_of("h" + std::to_string(host), 1, 0);
      for (int i = 0; i < 30; ++i) {
        const std::uint64_t value = random() % 5000;
        count(frame, "/", value);
        values.push_back(value);
        ++frame.sequence;
        const bool is_last = i == 29;
        const auto times = is_last ? 1 + random() % 2 : random() % 3;
        for (std::uint64_t n = 0; n < times; ++n) sent.push_back(encode(frame));
      }
    }
    std::shuffle(sent.begin(), sent.end(), random);
    for (const std::string& bytes : sent) ASSERT_TRUE(sums.add(subject_of(*decode_head(bytes)), bytes));
    const Sum sum = sums.of("o").at(0);
    ASSERT_EQ(sum.table.hits, values.size());
    std::uint64_t hits = 0, total = 0, wanted = 0;
    for (const ipc::HistogramRow& row : sum.table.rows) {
      hits += row.hits;
      total += row.values[0];
    }
    for (const std::uint64_t value : values) wanted += value;
    ASSERT_EQ(hits, values.size());
    ASSERT_EQ(total, wanted);
  }
}

TEST(SumsTest, PercentilesAreThoseOfTheUnion) {
  std::mt19937_64 random(11);
  Sums sums;
  std::vector<std::uint64_t> all;
  for (int host = 0; host < 10; ++host) {
    Frame frame = frame_of("h" + std::to_string(host), 1, 1);
    std::lognormal_distribution<double> took(8 + host % 3, 1.2);  // hosts differ: their percentiles do not average
    for (int i = 0; i < 2000 * (host + 1); ++i) {
      const auto value = static_cast<std::uint64_t>(took(random)) + 1;
      count(frame, "/", value);
      all.push_back(value);
    }
    add(sums, frame);
  }
  std::ranges::sort(all);
  const Sum sum = sums.of("o").at(0);
  measure::Distribution spread;
  for (const ipc::HistogramRow& row : sum.table.rows) {
    spread.add_step(row.keys[1].number, kSteps, row.hits, row.values[0]);
  }
  for (const double part : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(all[static_cast<std::size_t>(part * static_cast<double>(all.size()))]);
    EXPECT_NEAR(spread.percentile(part), exact, 0.03 * exact) << part;
  }
}

TEST(SumsTest, RowsCanBeByHostAndLabel) {
  Sums sums;
  for (const char* const host : {"a", "b", "c"}) {
    Frame frame = frame_of(host, 1, 1);
    count(frame, "/", 5);
    add(sums, frame);
  }
  const Sum by_zone = sums.of("o", {"zone"}).at(0);
  ASSERT_EQ(by_zone.table.keys.size(), 3u);
  EXPECT_EQ(by_zone.table.keys[0], (ipc::HistogramKey{KeyKind::kText, "zone", 0, 0}));
  ASSERT_EQ(by_zone.table.rows.size(), 2u);
  EXPECT_EQ(by_zone.table.rows[0].keys[0].text, "x");
  EXPECT_EQ(by_zone.table.rows[0].hits, 1u);
  EXPECT_EQ(by_zone.table.rows[1].keys[0].text, "y");
  EXPECT_EQ(by_zone.table.rows[1].hits, 2u);
  const Sum by_both = sums.of("o", {"host", "rack"}).at(0);
  ASSERT_EQ(by_both.table.rows.size(), 3u);
  EXPECT_EQ(by_both.table.rows[2].keys[0].text, "c");
  EXPECT_EQ(by_both.table.rows[2].keys[1].text, "");
}

TEST(SumsTest, AHostWithOtherKeysIsNamed) {
  Sums sums;
  Frame frame = frame_of("a", 1, 1);
  count(frame, "/", 5);
  add(sums, frame);
  Frame other = frame_of("b", 1, 1);
  other.table.keys[0].kind = KeyKind::kUnsigned;
  add(sums, other);
  other = frame_of("c", 1, 1);
  other.table.values[0].is_signed = true;
  add(sums, other);
  const Sum sum = sums.of("o").at(0);
  EXPECT_EQ(sum.misfits, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(sum.hosts, 1u);
  EXPECT_EQ(sum.table.hits, 1u);
}

TEST(SumsTest, OfAsManyHostsThoseThatWereHeardFirstCount) {
  Sums sums;
  for (const char* const host : {"z", "a"}) {
    Frame frame = frame_of(host, 1, 1);
    if (host == std::string("a")) frame.table.keys[0].name = "path";
    count(frame, "/", 1);
    add(sums, frame);
    frame.sequence = 2;
    add(sums, frame);
  }
  EXPECT_EQ(sums.of("o").at(0).misfits, std::vector<std::string>{"a"});
}

TEST(SumsTest, OneHostThatComesFirstDoesNotLeaveOutTheOthers) {
  Sums sums;
  for (std::uint64_t generation = 1; generation <= 5; ++generation) {
    Frame other = frame_of("aaa", generation, 1);
    other.table.keys[0].name = "path";
    count(other, "/", 1);
    add(sums, other);
  }
  for (const char* const host : {"b", "c"}) {
    Frame frame = frame_of(host, 1, 1);
    count(frame, "/", 5);
    add(sums, frame);
  }
  const auto sum = sums.of("o", {"host"}).at(0);
  EXPECT_EQ(sum.hosts, 2u);
  EXPECT_EQ(sum.misfits, std::vector<std::string>{"aaa"});
  EXPECT_EQ(sum.table.hits, 2u);
}

TEST(SumsTest, WhatAnActionKeepsIsTheLargest) {
  Sums sums;
  for (const std::uint64_t value : {7ull, ~0ull, 9ull}) {
    Frame frame = frame_of("h" + std::to_string(value), 1, 1);
    count(frame, "/", 5);
    frame.table.values.push_back({"unsigned", false, false, true});
    frame.table.values.push_back({"signed", false, true, true});
    frame.table.rows[0].values = {5, value, value};
    add(sums, frame);
  }
  EXPECT_EQ(sums.of("o").at(0).table.rows.at(0).values, (std::vector<std::uint64_t>{15, ~0ull, 9}));
}

TEST(SumsTest, OfWhatIsSetUpAnewTheNewestCanBeKept) {
  Sums sums;
  for (const char* const host : {"a", "b", "gone"}) {
    for (const std::uint64_t generation : {1, 2}) {
      Frame frame = frame_of(host, generation, 1);
      frame.boot = generation == 2 && host == std::string("b") ? "later" : "b";
      count(frame, "/", 5);
      add(sums, frame);
    }
  }
  Frame empty = frame_of("gone", 2, 2);
  empty.table = {};
  empty.is_last = true;
  add(sums, empty);
  EXPECT_EQ(hits_of(sums), 5u);
  sums.keep_newest([](const Sums::Key&) { return true; });
  EXPECT_EQ(hits_of(sums), 2u);
  EXPECT_EQ(sums.of("o").at(0).hosts, 2u);
  EXPECT_TRUE(sums.of("o").at(0).misfits.empty());
  sums.keep_newest([](const Sums::Key& key) { return key.host == "a"; });
  EXPECT_EQ(sums.histograms(), 1u);
}

TEST(SumsTest, OfWhatHasGoneEverywhereThereAreNoKeys) {
  Sums sums;
  Frame frame = frame_of("a", 1, 1);
  frame.table = {};
  frame.is_last = true;
  add(sums, frame);
  for (const std::vector<std::string>& by : {std::vector<std::string>(), {"host"}}) {
    const Sum sum = sums.of("o", by).at(0);
    EXPECT_TRUE(sum.table.keys.empty());
    EXPECT_EQ(sum.hosts, 0u);
    EXPECT_TRUE(sum.misfits.empty());
  }
  frame = frame_of("b", 1, 1);
  frame.table = {};
  add(sums, frame);
  EXPECT_EQ(sums.of("o", {"host"}).at(0).misfits, std::vector<std::string>{"b"}) << "it counts, by nothing";
}

TEST(SumsTest, OneHostCannotTakeTheRoomOfOthers) {
  Sums sums(64 * 1024);
  Frame good = frame_of("good", 1, 1);
  count(good, "/", 5);
  add(sums, good);
  std::size_t refused = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Frame evil = frame_of("evil", i, 1);
    evil.domain = "d" + std::to_string(i % 7);
    count(evil, "/", 5);
    refused += sums.add(subject_of(evil), encode(evil)) ? 0 : 1;
  }
  EXPECT_GT(refused, 500u);
  EXPECT_LT(sums.bytes(), 70u * 1024);
  good.sequence = 2;
  count(good, "/", 5);
  EXPECT_EQ(add(sums, good), Was::kNews);
  const Sum sum = sums.of("o", {"host"}).at(0);
  EXPECT_EQ(sum.misfits, std::vector<std::string>{"evil"}) << "what it says is not all that it sent";
  EXPECT_EQ(sum.table.rows.at(1).keys[0].text, "good");
  EXPECT_EQ(sum.table.rows.at(1).hits, 2u);
}

// In frames they take a tenth of what they do as rows.
TEST(SumsTest, OneHostsRowsAreBoundedOverAllItsGenerationsAndEvents) {
  constexpr std::size_t kMost = 1u << 20;
  constexpr std::uint64_t kRows = 2000;
  Sums sums(kMost);
  Frame good = frame_of("good", 1, 1);
  count(good, "/", 5);
  add(sums, good);
  good.generation = 2;
  add(sums, good);
  for (std::uint64_t i = 0; i < 20; ++i) {
    Frame evil = frame_of("evil", 1 + i / 4, 1);
    evil.event = "u:e" + (i % 4 == 0 ? "" : std::to_string(i % 4));
    for (std::uint64_t row = 0; row < kRows; ++row) {
      evil.table.rows.push_back({{{0, "/", {}}, {1000 + i * kRows + row, "", {}}}, 1, {1}});
    }
    add(sums, evil);
  }
  EXPECT_EQ(sums.histograms(), 22u) << "as frames they have room";
  std::size_t rows = 0;
  for (const Sum& sum : sums.of("o")) {
    rows += sum.table.rows.size();
    EXPECT_EQ(sum.misfits, std::vector<std::string>{"evil"}) << sum.event;
    if (sum.event == "u:e") {
      EXPECT_EQ(std::ranges::count_if(sum.table.rows, [](const auto& row) { return row.hits == 2; }), 1) << "good's";
    }
  }
  EXPECT_LT(rows, kMost / 200);
  EXPECT_GE(rows, kRows);
}

TEST(SumsTest, WhatIsOldIsForgotten) {
  Sums sums;
  for (const auto& [host, heard_ns] : {std::pair("a", 199), std::pair("b", 200)}) {
    ASSERT_TRUE(sums.add(subject_of(frame_of(host, 1, 1)), encode(frame_of(host, 1, 1)), heard_ns));
  }
  const std::size_t both = sums.bytes();
  sums.forget_before(200);
  EXPECT_EQ(sums.histograms(), 1u);
  EXPECT_LT(sums.bytes(), both);
  EXPECT_GT(sums.bytes(), 0u);
  EXPECT_FALSE(sums.add(subject_of(frame_of("a", 1, 1)), "nonsense"));
}

}  // namespace
}  // namespace landtrace::fleet
