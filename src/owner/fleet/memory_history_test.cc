#include "fleet/memory_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fleet/subjects.hpp"
#include "output/perfetto/proto.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;

constexpr std::uint64_t kMinute = MemoryHistory::kResolution_ns;
constexpr std::uint64_t kBegin = 1000 * kMinute;
constexpr std::size_t kPlenty = 64u << 20;

// A host's histogram of two routes and two buckets.
class Host {
 public:
  Host(const std::string& name, std::uint64_t generation) {
    frame_.host = name;
    frame_.boot = "b";
    frame_.domain = "system";
    frame_.labels = name == "a" ? "zone=x" : "zone=y";
    frame_.order = "o";
    frame_.event = "u:e";
    frame_.generation = generation;
    frame_.table.keys = {{KeyKind::kText, "route", 0, 0}, {KeyKind::kSteps, "took", 32, 0}};
    frame_.table.values = {{"took"}};
  }
  Host& count(const std::string& route, std::uint64_t step, std::uint64_t hits) {
    auto row = std::ranges::find_if(frame_.table.rows, [&](const ipc::HistogramRow& one) {
      return one.keys[0].text == route && one.keys[1].number == step;
    });
    if (row == frame_.table.rows.end()) {
      frame_.table.rows.push_back({{{0, route, {}}, {step, "", {}}}, 0, {0}});
      row = std::prev(frame_.table.rows.end());
    }
    row->hits += hits;
    row->values[0] += hits * step;
    frame_.table.hits += hits;
    frame_.unpaired.lost += 1;
    return *this;
  }
  // The next frame.
  Frame& at(std::uint64_t time_ns) {
    ++frame_.sequence;
    frame_.time_ns = time_ns;
    return frame_;
  }

 private:
  Frame frame_;
};

void add(MemoryHistory& memory, const Frame& frame) { ASSERT_TRUE(memory.add(subject_of(frame), encode(frame))); }

HistoryQuestion ask(std::uint64_t from, std::uint64_t until, std::uint64_t every = 0) {
  return {.order = "o", .period = {from, until, every, false}, .where = {}, .per = {}, .sequence = 0};
}

std::vector<std::uint64_t> hits(MemoryHistory& memory, const HistoryQuestion& question) {
  const auto history = memory.answer(question);
  std::vector<std::uint64_t> hits;
  if (!history) return hits;
  for (const Frame& frame : history->frames) {
    std::uint64_t sum = 0;
    for (const ipc::HistogramRow& row : frame.table.rows) sum += row.hits;
    EXPECT_EQ(sum, frame.table.hits);
    hits.push_back(sum);
  }
  return hits;
}

TEST(MemoryHistoryTest, EachMinuteHasWhatWasCountedInIt) {
  MemoryHistory memory(kPlenty);
  Host host("a", kBegin);
  add(memory, host.count("/", 64, 3).at(kBegin + 10));
  add(memory, host.count("/", 64, 4).count("/x", 128, 1).at(kBegin + 20));
  add(memory, host.count("/", 64, 5).at(kBegin + kMinute));
  add(memory, host.count("/x", 128, 7).at(kBegin + 3 * kMinute));
  EXPECT_EQ(hits(memory, ask(kBegin, kBegin + 4 * kMinute)), std::vector<std::uint64_t>{20});
  EXPECT_EQ(hits(memory, ask(kBegin, kBegin + 4 * kMinute, kMinute)), (std::vector<std::uint64_t>{8, 5, 0, 7}));
  EXPECT_EQ(hits(memory, ask(kBegin + kMinute, kBegin + 3 * kMinute)), std::vector<std::uint64_t>{5});
  EXPECT_EQ(hits(memory, ask(kBegin, kBegin + 4 * kMinute, 2 * kMinute)), (std::vector<std::uint64_t>{13, 7}));
}

TEST(MemoryHistoryTest, WhoAsksBetweenTwoFramesChangesNothing) {
  MemoryHistory memory(kPlenty);
  Host host("a", kBegin);
  for (int i = 1; i <= 5; ++i) {
    add(memory, host.count("/", 64, 1).at(kBegin + i));
    EXPECT_EQ(hits(memory, ask(kBegin, kBegin + kMinute)), std::vector<std::uint64_t>(1, i));
  }
}

TEST(MemoryHistoryTest, RowsHaveTheirKeysSumsAndTotals) {
  MemoryHistory memory(kPlenty);
  Host host("a", kBegin);
  add(memory, host.count("/", 64, 3).count("/x", 128, 2).at(kBegin));
  const auto history = memory.answer(ask(kBegin, kBegin + kMinute));
  ASSERT_TRUE(history);
  const Frame& frame = history->frames.at(0);
  EXPECT_EQ(frame.event, "u:e");
  EXPECT_EQ(frame.generation, kBegin);
  EXPECT_EQ(frame.time_ns, kBegin + kMinute);
  EXPECT_EQ(frame.unpaired.lost, 2u);
  ASSERT_EQ(frame.table.rows.size(), 2u);
  EXPECT_EQ(frame.table.rows[1].keys[0].text, "/x");
  EXPECT_EQ(frame.table.rows[1].keys[1].number, 128u);
  EXPECT_EQ(frame.table.rows[1].values, std::vector<std::uint64_t>{256});
}

TEST(MemoryHistoryTest, HostsAreAddedGroupedAndChosen) {
  MemoryHistory memory(kPlenty);
  Host a("a", kBegin), b("b", kBegin), c("c", kBegin);
  add(memory, a.count("/", 64, 1).at(kBegin));
  add(memory, b.count("/", 64, 2).at(kBegin));
  add(memory, c.count("/", 64, 4).at(kBegin));
  HistoryQuestion question = ask(kBegin, kBegin + kMinute);
  EXPECT_EQ(hits(memory, question), std::vector<std::uint64_t>{7});
  question.where = "zone=y";
  EXPECT_EQ(hits(memory, question), std::vector<std::uint64_t>{6});
  question.where = "";
  question.per = {"zone"};
  const auto history = memory.answer(question);
  ASSERT_TRUE(history);
  const auto& rows = history->frames.at(0).table.rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].keys[0].text, "x");
  EXPECT_EQ(rows[0].hits, 1u);
  EXPECT_EQ(rows[1].keys[0].text, "y");
  EXPECT_EQ(rows[1].hits, 6u);
}

// Its counts were made since it began: nobody knows when.
TEST(MemoryHistoryTest, WhatWasCountedBeforeTheFirstKnownFrameIsToldApart) {
  MemoryHistory memory(kPlenty);
  Host host("a", kBegin);
  host.count("/", 64, 5).at(kBegin);  // is lost
  add(memory, host.count("/", 64, 4).at(kBegin + 2 * kMinute));
  add(memory, host.count("/", 64, 1).at(kBegin + 3 * kMinute));
  EXPECT_EQ(hits(memory, ask(kBegin, kBegin + 4 * kMinute)), std::vector<std::uint64_t>{10});
  const auto later = memory.answer(ask(kBegin + kMinute, kBegin + 4 * kMinute));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->frames.at(0).table.hits, 1u);
  EXPECT_EQ(later->unclear, 9u);
}

TEST(MemoryHistoryTest, LostRepeatedAndReorderedFramesChangeNoSum) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    MemoryHistory memory(kPlenty);
    memory.look_at(random() % 100);
    std::vector<std::string> sent;
    std::string subject;
    std::uint64_t total = 0;
    Host host("a", kBegin);
    for (int i = 1; i <= 60; ++i) {
      const std::uint64_t count = random() % 5;
      total += count;
      const Frame& frame = host.count(i % 2 == 0 ? "/" : "/x", 64 << random() % 4, count).at(kBegin + i * kMinute / 4);
      subject = subject_of(frame);
      for (std::size_t n = i == 60 ? 1 : random() % 3; n > 0; --n) sent.push_back(encode(frame));
    }
    std::ranges::shuffle(sent, random);
    for (const std::string& bytes : sent) ASSERT_TRUE(memory.add(subject, bytes));
    ASSERT_EQ(hits(memory, ask(kBegin, kBegin + 20 * kMinute)), std::vector<std::uint64_t>{total});
    std::uint64_t sum = 0;
    for (const std::uint64_t part : hits(memory, ask(kBegin, kBegin + 20 * kMinute, kMinute))) sum += part;
    ASSERT_EQ(sum, total);
  }
}

TEST(MemoryHistoryTest, TheOldestMinutesGoFirst) {
  constexpr std::size_t kLittle = 20'000;
  MemoryHistory memory(kLittle);
  Host host("a", kBegin);
  for (int i = 0; i < 1000; ++i) {
    add(memory, host.count("/" + std::to_string(i % 10), 64, 1).at(kBegin + i * kMinute));
    ASSERT_LE(memory.bytes(), kLittle);
  }
  const auto history = memory.answer(ask(kBegin, kBegin + 1000 * kMinute));
  ASSERT_TRUE(history);
  EXPECT_GT(history->reaches_ns, kBegin);
  EXPECT_GT(history->dropped_bytes, 0u);
  const std::uint64_t minutes = (kBegin + 1000 * kMinute - history->reaches_ns) / kMinute;
  EXPECT_EQ(history->frames.at(0).table.hits, minutes);
  EXPECT_EQ(hits(memory, ask(history->reaches_ns, kBegin + 1000 * kMinute)), std::vector<std::uint64_t>{minutes});
}

TEST(MemoryHistoryTest, WhoHasOtherFieldsIsNamed) {
  MemoryHistory memory(kPlenty);
  Host a("a", kBegin), b("b", kBegin);
  add(memory, a.count("/", 64, 1).at(kBegin));
  Frame other = b.count("/", 64, 1).at(kBegin);
  other.table.values[0].is_signed = true;
  add(memory, other);
  const auto history = memory.answer(ask(kBegin, kBegin + kMinute));
  ASSERT_TRUE(history);
  EXPECT_EQ(history->misfits, std::vector<std::string>{"b"});
  EXPECT_EQ(history->frames.at(0).table.hits, 1u);
}

TEST(MemoryHistoryTest, WhatHasGoneIsNoHistogramOfOtherKeys) {
  MemoryHistory memory(kPlenty);
  std::vector<Host> hosts{{"a", kBegin}, {"b", kBegin}, {"c", kBegin}};
  for (Host& host : hosts) add(memory, host.count("/", 64, 1).at(kBegin));
  for (Host* const host : {&hosts[0], &hosts[1]}) {
    Frame gone = host->at(kBegin + 1);
    gone.is_last = true;
    gone.table = {};
    add(memory, gone);
  }
  for (const std::vector<std::string>& per : {std::vector<std::string>(), {"host"}}) {
    HistoryQuestion question = ask(kBegin, kBegin + kMinute);
    question.per = per;
    const auto history = memory.answer(question);
    ASSERT_TRUE(history);
    EXPECT_TRUE(history->misfits.empty());
    ASSERT_EQ(history->frames.size(), 1u);
    EXPECT_EQ(history->frames[0].table.hits, 3u) << "it was counted then";
    EXPECT_EQ(history->frames[0].unpaired.lost, 3u);
  }
}

TEST(MemoryHistoryTest, OneHostThatComesFirstDoesNotLeaveOutTheOthers) {
  MemoryHistory memory(kPlenty);
  for (std::uint64_t generation = kBegin; generation < kBegin + 5; ++generation) {
    Frame other = Host("aaa", generation).count("/", 64, 100).at(kBegin);
    other.table.values[0].is_signed = true;
    add(memory, other);
  }
  Host b("b", kBegin), c("c", kBegin);
  add(memory, b.count("/", 64, 1).at(kBegin));
  add(memory, c.count("/", 64, 2).at(kBegin));
  for (const std::vector<std::string>& per : {std::vector<std::string>(), {"host"}}) {
    HistoryQuestion question = ask(kBegin, kBegin + kMinute);
    question.per = per;
    const auto history = memory.answer(question);
    ASSERT_TRUE(history);
    EXPECT_EQ(history->misfits, std::vector<std::string>{"aaa"});
    ASSERT_EQ(history->frames.size(), 1u);
    EXPECT_EQ(history->frames.at(0).table.hits, 3u);
  }
  HistoryQuestion question = ask(kBegin, kBegin + kMinute);
  question.order = "";
  const auto orders = memory.answer(question);
  ASSERT_EQ(orders->frames.size(), 1u);
  EXPECT_FALSE(orders->frames[0].table.values[0].is_signed);
  EXPECT_EQ(orders->frames[0].host, "3");
}

TEST(MemoryHistoryTest, ANumberThatIsNoPowerOfTwoIsItsHostsAlone) {
  MemoryHistory memory(kPlenty);
  const auto frame_of = [](const std::string& name, std::uint64_t power) {
    Frame frame = Host(name, kBegin).count("/", power, 1).at(kBegin);
    frame.table.keys[1] = {KeyKind::kLog2, "took", 0, 0};
    return frame;
  };
  add(memory, frame_of("b", 64));
  const Frame bad = frame_of("c", 65);
  std::ignore = memory.add(subject_of(bad), encode(bad));
  const auto history = memory.answer(ask(kBegin, kBegin + kMinute));
  ASSERT_TRUE(history);
  EXPECT_EQ(history->misfits, std::vector<std::string>{"c"});
  EXPECT_EQ(history->frames.at(0).table.rows.size(), 1u);
}

// The minute that it says would be dropped last, and then nothing before it would be taken.
TEST(MemoryHistoryTest, AHostWhoseClockIsAheadKeepsNobodyOut) {
  constexpr std::size_t kLittle = 20'000;
  MemoryHistory memory(kLittle);
  Host ahead("b", kBegin), good("a", kBegin);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t now = kBegin + i * kMinute;
    const Frame& wrong = ahead.count("/" + std::to_string(i % 50), 64, 1).at(kBegin + (1'000'000 + i) * kMinute);
    ASSERT_TRUE(memory.add(subject_of(wrong), encode(wrong), now));
    const Frame& frame = good.count("/", 64, 1).at(now);
    ASSERT_TRUE(memory.add(subject_of(frame), encode(frame), now));
  }
  const std::uint64_t now = kBegin + 200 * kMinute;
  const auto history = memory.answer(ask(now - 5 * kMinute, now));
  ASSERT_TRUE(history);
  EXPECT_GT(history->dropped_bytes, 0u);
  EXPECT_LT(history->reaches_ns, now);
  HistoryQuestion question = ask(now - 5 * kMinute, now);
  question.where = "host=a";
  EXPECT_EQ(hits(memory, question), std::vector<std::uint64_t>{5});
}

TEST(MemoryHistoryTest, KeysTakeRoomAndGoWithTheirHistograms) {
  constexpr std::size_t kLittle = 100'000;
  MemoryHistory memory(kLittle);
  memory.look_at(1'000'000);
  for (std::uint64_t i = 0; i < 100; ++i) {
    Host host("a", kBegin + i);
    for (int k = 0; k < 20; ++k) host.count("/" + std::to_string(i) + "/" + std::to_string(k), 64, 1);
    add(memory, host.at(kBegin));
    ASSERT_LE(memory.bytes(), kLittle);
  }
  EXPECT_GT(memory.answer(ask(kBegin, kBegin + kMinute))->dropped_bytes, 0u) << "2000 keys have no room";
}

TEST(MemoryHistoryTest, OrdersAreListed) {
  MemoryHistory memory(kPlenty);
  Host a("a", kBegin), b("b", kBegin);
  add(memory, a.count("/", 64, 1).at(kBegin));
  add(memory, b.count("/", 64, 1).at(kBegin + kMinute));
  HistoryQuestion question = ask(kBegin, kBegin + 10 * kMinute);
  question.order = "";
  const auto history = memory.answer(question);
  ASSERT_TRUE(history);
  ASSERT_EQ(history->frames.size(), 1u);
  EXPECT_EQ(history->frames[0].host, "2");
  EXPECT_EQ(history->frames[0].generation, kBegin);
  EXPECT_EQ(history->frames[0].time_ns, kBegin + kMinute);
  EXPECT_TRUE(history->frames[0].table.rows.empty());
}

TEST(MemoryHistoryTest, NonsenseIsRefused) {
  MemoryHistory memory(kPlenty);
  Host host("a", kBegin);
  const Frame frame = host.count("/", 64, 1).at(kBegin);
  EXPECT_FALSE(memory.add("landtrace.system.b.hist.o.1.e", encode(frame)));
  EXPECT_FALSE(memory.add(subject_of(frame), "nonsense"));
  EXPECT_FALSE(memory.answer(ask(kBegin, kBegin + kMinute, kMinute / 2)));
  HistoryQuestion question = ask(kBegin, kBegin + kMinute);
  question.where = "zone=";
  EXPECT_FALSE(memory.answer(question));
}

TEST(MemoryHistoryTest, OfAFrameWhoseTableIsRefusedNothingStays) {
  constexpr std::uint32_t kTable = 15;
  MemoryHistory memory(10'000);
  Host host("a", kBegin);
  std::string garbage = encode(host.at(kBegin));
  output::proto::put(garbage, kTable, std::string_view("\xff"));
  EXPECT_FALSE(memory.add(subject_of(host.at(kBegin)), garbage));
  Host large("b", kBegin);
  Frame& frame = large.at(kBegin);
  frame.event = "u:large";
  frame.table.keys.resize(63, {KeyKind::kUnsigned, "k", 0, 0});
  frame.table.keys[0] = {KeyKind::kUnsigned, "route", 0, 0};
  frame.table.keys[1] = {KeyKind::kUnsigned, "took", 0, 0};
  frame.table.rows.resize(17'000, {std::vector<ipc::HistogramKeyValue>(63), 1, {0}});
  EXPECT_FALSE(memory.add(subject_of(frame), encode(frame)));

  EXPECT_EQ(hits(memory, ask(kBegin, kBegin + kMinute)), std::vector<std::uint64_t>()) << "nothing is known";
  HistoryQuestion question = ask(kBegin, kBegin + kMinute);
  question.order = "";
  const auto orders = memory.answer(question);
  ASSERT_TRUE(orders);
  EXPECT_TRUE(orders->frames.empty());
  add(memory, Host("c", kBegin).count(std::string(20'000, 'x'), 64, 1).at(kBegin));
  EXPECT_LE(memory.bytes(), 10'000u) << "the oldest has gone";
}

TEST(MemoryHistoryTest, NamesTakeRoom) {
  constexpr std::size_t kEach = 3000;
  const std::string long_text(kEach + 100, 'x');
  const auto bytes_of = [](const auto& change) {
    MemoryHistory memory(kPlenty);
    for (std::uint64_t i = 0; i < 10; ++i) {
      Frame frame = Host("a", kBegin).at(kBegin);
      change(frame, std::to_string(i));
      add(memory, frame);
      memory.answer(ask(kBegin, kBegin + kMinute)).value();  // what has come is not there as bytes any more
    }
    return memory.bytes();
  };
  const auto generation = [](Frame& frame, const std::string& i) { frame.generation += std::stoul(i); };
  const std::size_t small = bytes_of(generation);
  EXPECT_GT(bytes_of([&](Frame& frame, const std::string& i) { frame.boot = i + long_text; }), small + 10 * kEach);
  EXPECT_GT(bytes_of([&](Frame& frame, const std::string& i) {
              generation(frame, i);
              frame.labels = "x=" + long_text;
            }),
            small + 10 * kEach);
  // As bytes, and as what they say.
  EXPECT_GT(bytes_of([&](Frame& frame, const std::string& i) { frame.table.keys[0].name = i + long_text; }),
            small + 20 * kEach);
}

TEST(MemoryHistoryTest, HistogramsOfOtherKeysAreNoWayToMuchMemory) {
  constexpr std::size_t kLittle = 1u << 20;
  MemoryHistory memory(kLittle);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Frame frame = Host("a", kBegin).at(kBegin);
    frame.table.keys[0].name = std::to_string(i) + std::string(4000, 'x');
    frame.event = "u:e" + std::to_string(i);
    add(memory, frame);
    ASSERT_LE(memory.bytes(), kLittle);
  }
  HistoryQuestion question = ask(kBegin, kBegin + kMinute);
  question.order = "";
  EXPECT_LE(memory.answer(question)->frames.size(), kLittle / 8000) << "what is not counted is not there";
}

TEST(MemoryHistoryTest, AFrameWithoutASequenceIsRefused) {
  MemoryHistory memory(kPlenty);
  Frame frame = Host("a", kBegin).count("/", 64, 1).at(kBegin);
  frame.sequence = 0;
  EXPECT_FALSE(memory.add(subject_of(frame), encode(frame)));
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(MemoryHistoryTest, KeysOfAFrameThatMakesNoSenseTakeRoomToo) {
  constexpr std::size_t kLittle = 100'000;
  MemoryHistory memory(kLittle);
  memory.look_at(1'000'000);
  for (std::uint64_t i = 0; i < 100; ++i) {
    Host host("a", kBegin + i);
    for (int k = 0; k < 20; ++k) host.count("/" + std::to_string(i) + "/" + std::to_string(k), 64, 1);
    Frame& frame = host.at(kBegin);
    frame.table.rows.push_back(frame.table.rows.back());
    EXPECT_FALSE(memory.add(subject_of(frame), encode(frame)));
    ASSERT_LE(memory.bytes(), kLittle);
  }
}

TEST(MemoryHistoryTest, AKnownHistogramHasNoMoreRowsThanANewOne) {
  constexpr std::size_t kValues = 62;
  MemoryHistory memory(kPlenty);
  memory.look_at(10);
  Frame frame = Host("a", kBegin).at(kBegin);
  frame.table.values.resize(kValues, {"took"});
  add(memory, frame);
  const std::vector<std::uint64_t> values(kValues, 1);
  for (std::uint64_t i = 0; i < kMostCells / (2 + kValues + 1) + 1; ++i) {
    frame.table.rows.push_back({{{0, "x", {}}, {64 + i, "", {}}}, 1, values});
  }
  ++frame.sequence;
  const std::string bytes = encode(frame);
  EXPECT_FALSE(decode_frame(bytes));
  EXPECT_FALSE(memory.add(subject_of(frame), bytes));
  EXPECT_EQ(memory.answer(ask(kBegin, kBegin + kMinute))->misfits, std::vector<std::string>{"a"});
  frame.table.rows.pop_back();
  ++frame.sequence;
  add(memory, frame);
}

void add_at(MemoryHistory& memory, const Frame& frame, std::uint64_t now_ns) {
  ASSERT_TRUE(memory.add(subject_of(frame), encode(frame), now_ns));
}

std::vector<Host> some_hosts(std::size_t count, std::uint64_t generation) {
  std::vector<Host> hosts;
  for (std::size_t i = 0; i < count; ++i) hosts.emplace_back("h" + std::to_string(i), generation);
  return hosts;
}

TEST(MemoryHistoryTest, AHostThatTakesTheRoomOfOthersLosesItsOwn) {
  constexpr std::size_t kLittle = 400'000;
  constexpr std::uint64_t kMinutes = 30;
  MemoryHistory memory(kLittle);
  memory.look_at(1'000'000);
  std::vector<Host> hosts = some_hosts(10, kBegin);
  std::uint64_t key = 0;
  for (std::uint64_t i = 0; i < kMinutes; ++i) {
    const std::uint64_t now = kBegin + i * kMinute;
    for (Host& host : hosts) add_at(memory, host.count("/", 64, 1).at(now), now);
    for (std::uint64_t generation = 0; generation < 5; ++generation) {
      Host evil("evil", now + generation);
      for (int k = 0; k < 100; ++k) evil.count(std::to_string(++key), 64, 1);
      add_at(memory, evil.at(now), now);
      ASSERT_LE(memory.bytes(), kLittle);
    }
  }
  HistoryQuestion question = ask(kBegin, kBegin + kMinutes * kMinute);
  question.where = "host=h*";
  const auto history = memory.answer(question);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->frames.at(0).table.hits, 10 * kMinutes);
  EXPECT_EQ(history->reaches_ns, 0u) << "of all others all is there";
  EXPECT_EQ(history->no_room, std::vector<std::string>{"evil"});
  EXPECT_GT(history->dropped_bytes, 0u);
}

// Of many keys that others have too, the last one: a minute's sum of all hosts has room for what was counted alone.
TEST(MemoryHistoryTest, FewCountsOfAKeyThatIsFarBehindTakeLittle) {
  constexpr std::size_t kLittle = 400'000;
  constexpr std::uint64_t kMinutes = 60;
  MemoryHistory memory(kLittle);
  memory.look_at(1'000'000);
  std::vector<Host> hosts = some_hosts(2, kBegin);
  for (int k = 0; k < 500; ++k) {
    for (Host& host : hosts) host.count(std::to_string(k), 64, 1);
  }
  for (std::uint64_t i = 0; i < kMinutes; ++i) {
    const std::uint64_t now = kBegin + i * kMinute;
    for (Host& host : hosts) add_at(memory, host.count("499", 64, 1).at(now), now);
  }
  HistoryQuestion question = ask(kBegin, kBegin + kMinutes * kMinute, kMinute);
  for (const std::vector<std::string>& per : {std::vector<std::string>(), {"zone"}}) {
    question.per = per;
    std::vector<std::uint64_t> wanted(kMinutes, 2);
    wanted[0] += 1000;
    EXPECT_EQ(hits(memory, question), wanted);
  }
  const auto history = memory.answer(question);
  EXPECT_EQ(history->reaches_ns, 0u);
  EXPECT_EQ(history->dropped_bytes, 0u);
}

// To find what is to go all is looked at.
TEST(MemoryHistoryTest, WhereThereIsNoRoomNotEachFrameIsAReasonToLook) {
  constexpr std::size_t kLittle = 1'000'000;
  constexpr std::uint64_t kFrames = 800;
  constexpr std::size_t kLeastCost = 2000;  // of a frame
  for (const bool is_of_many : {false, true}) {
    MemoryHistory memory(kLittle);
    memory.look_at(1'000'000);
    const std::uint64_t now = kBegin + 2 * kFrames * kMinute;
    std::uint64_t drops = 0;
    for (std::uint64_t i = 0; i < kFrames; ++i) {
      // Each of a minute of its own, before all others; of one host, or of many, none of which has much.
      Host host(is_of_many ? "h" + std::to_string(i % 100) : "h", kBegin + i);
      for (int k = 0; k < 120; ++k) host.count(std::to_string(k), 64, 1u << 30);
      const std::size_t before = memory.bytes();
      add_at(memory, host.at(now - i * kMinute), now);
      ASSERT_LE(memory.bytes(), kLittle);
      drops += memory.bytes() < before + kLeastCost ? 1 : 0;
    }
    EXPECT_GT(drops, 0u);
    EXPECT_LT(drops, kFrames / 10);
  }
}

TEST(MemoryHistoryTest, AnOrderThatTakesTheRoomOfOthersIsLeftOut) {
  constexpr std::size_t kLittle = 400'000;
  constexpr std::uint64_t kMinutes = 10;
  MemoryHistory memory(kLittle);
  memory.look_at(1'000'000);
  std::vector<Host> hosts = some_hosts(10, kBegin);
  for (std::uint64_t i = 0; i < kMinutes; ++i) {
    const std::uint64_t now = kBegin + i * kMinute;
    for (Host& host : hosts) add_at(memory, host.count("/", 64, 1).at(now), now);
    // Each host has ids that no other has.
    for (int h = 0; h < 50; ++h) {
      Host host("big" + std::to_string(h), now);
      for (int k = 0; k < 50; ++k) host.count(std::to_string(h * 1000 + k), 64, 1);
      Frame& frame = host.at(now);
      frame.order = "large";
      add_at(memory, frame, now);
      ASSERT_LE(memory.bytes(), kLittle);
    }
  }
  const auto small = memory.answer(ask(kBegin, kBegin + kMinutes * kMinute));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->frames.at(0).table.hits, 10 * kMinutes);
  EXPECT_EQ(small->reaches_ns, 0u);
  EXPECT_TRUE(small->no_room.empty());
  HistoryQuestion question = ask(kBegin, kBegin + kMinutes * kMinute);
  question.order = "large";
  EXPECT_GT(memory.answer(question)->reaches_ns, kBegin) << "it is told of that order";
  question.order = "";
  EXPECT_GT(memory.answer(question)->reaches_ns, kBegin) << "… and of all";
}

// A clock may be a minute ahead: what others count now would count as older than what was dropped.
TEST(MemoryHistoryTest, WhatIsCountedNowIsNotDroppedAsOld) {
  constexpr std::size_t kLittle = 60'000;
  MemoryHistory memory(kLittle);
  memory.look_at(1'000'000);
  for (int h = 0; h < 100; ++h) {
    Host host("h" + std::to_string(h), kBegin);
    for (int k = 0; k < 5; ++k) host.count(std::to_string(h * 10 + k), 64, 1);
    add_at(memory, host.at(kBegin + 2 * kMinute), kBegin);
    ASSERT_LE(memory.bytes(), kLittle);
  }
  Host good("good", kBegin);
  Frame& frame = good.count("/", 64, 7).at(kBegin + 1);
  frame.order = "other";
  add_at(memory, frame, kBegin + 1);
  HistoryQuestion question = ask(kBegin, kBegin + kMinute);
  question.order = "other";
  EXPECT_EQ(hits(memory, question), std::vector<std::uint64_t>{7});
}

// What goes is given back, of whomever it was: parts of what is left add up to its whole, and a new host finds room.
TEST(MemoryHistoryTest, WhatIsLeftIsWholeWhateverWasDropped) {
  constexpr std::size_t kLittle = 300'000;
  for (unsigned round = 0; round < 6; ++round) {
    std::mt19937 random(round);
    MemoryHistory memory(kLittle);
    memory.look_at(round % 2 == 0 ? 0 : 1'000'000);
    std::vector<Host> hosts = some_hosts(2 + round * 4, kBegin);
    std::uint64_t now = kBegin;
    for (int i = 0; i < 2000; ++i) {
      now += random() % (kMinute / 4);
      const std::size_t number = random() % hosts.size();
      Host& host = hosts[number];
      if (random() % 50 == 0) host = Host("h" + std::to_string(number), now);
      const std::string own = random() % 3 == 0 ? std::to_string(random() % 2000) : "";
      Frame frame = host.count("/" + own, 64 << random() % 3, 1 + random() % 3).at(now);
      frame.event = "u:e" + std::to_string(number % 2);
      ASSERT_TRUE(memory.add(subject_of(frame), encode(frame), now));
      ASSERT_LE(memory.bytes(), kLittle);
    }
    HistoryQuestion question = ask(now - 200 * kMinute, now + kMinute, kMinute);
    const std::vector<std::uint64_t> all = hits(memory, question);
    question.per = {"host"};
    ASSERT_EQ(hits(memory, question), all);
    EXPECT_GT(std::ranges::count_if(all, [](std::uint64_t one) { return one > 0; }), 4);
    // Nothing stays of what is over: a new host finds all of the room.
    for (int i = 1; i <= 3; ++i) {
      Host last("last", now + 1000 * kMinute);
      for (int k = 0; k < 300; ++k) last.count(std::to_string(k), 64, 1);
      add_at(memory, last.at(now + 1000 * kMinute), now + 1000 * kMinute);
    }
    question = ask(now + 1000 * kMinute, now + 1001 * kMinute);
    ASSERT_EQ(hits(memory, question).back(), 300u);
  }
}

}  // namespace
}  // namespace landtrace::fleet
