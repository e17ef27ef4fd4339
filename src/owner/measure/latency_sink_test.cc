#include "measure/latency_sink.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::measure {
namespace {

constexpr std::uint64_t kAll = ~0ull;

class LatencySinkTest : public testing::Test {
 protected:
  struct Start {
    std::uint32_t id;
  };
  struct Done {
    std::int64_t number;
    char route[8];
  };

  void begin(LatencySink::Request request) {
    sink_.emplace(std::move(request), Pairs::Limits());
    sink_->type(start_);
    sink_->type(done_);
  }
  void begin() { begin({"user_events:start", "user_events:done", {"id"}, {"number"}, {"route"}}); }

  void add(const output::EventType& type, std::uint64_t time_ns, std::uint32_t cpu, std::span<const std::byte> payload,
           std::int32_t tid = 1) {
    sink_->event({.time_ns = time_ns, .cpu = cpu, .tid = tid, .event_id = type.id, .payload = payload}, type);
  }
  void start(std::uint64_t time_ns, std::uint32_t cpu, std::uint32_t id) {
    const Start payload{id};
    add(start_, time_ns, cpu, output::bytes_of(payload));
  }
  void done(std::uint64_t time_ns, std::uint32_t cpu, std::int64_t number) {
    const Done payload{number, "/a"};
    add(done_, time_ns, cpu, output::bytes_of(payload));
  }
  [[nodiscard]] std::uint64_t pairs() const { return sink_->table("ns").hits; }

  output::EventType start_ = output::make_type(1, "start u32 id");
  output::EventType done_ = output::make_type(2, "done s64 number; char[8] route");
  std::optional<LatencySink> sink_;
};

TEST_F(LatencySinkTest, NumbersOfDifferentSizesAreTheSameKey) {
  begin();
  start(10, 0, 7);
  done(13, 0, 7);
  sink_->settled(kAll);
  const auto table = sink_->table("ns");
  EXPECT_EQ(table.hits, 1u);
  EXPECT_EQ(table.keys.at(0), (ipc::HistogramKey{ipc::KeyKind::kText, "route", 0}));
  EXPECT_EQ(table.rows.at(0).keys.at(0).text, "/a");
  EXPECT_EQ(table.rows.at(0).values.at(0), 3u);
}

TEST_F(LatencySinkTest, CpusAreBroughtIntoTheOrderOfTime) {
  begin();
  done(13, 0, 7);
  done(23, 0, 7);
  start(10, 1, 7);
  start(20, 1, 7);
  sink_->settled(kAll);
  EXPECT_EQ(pairs(), 2u);
  EXPECT_EQ(sink_->pairs().ends_without_start(), 0u);
}

TEST_F(LatencySinkTest, WhatIsBehindTheHorizonWaitsForOthers) {
  begin();
  done(13, 0, 7);
  sink_->settled(12);
  start(12, 1, 7);
  sink_->settled(13);
  EXPECT_EQ(pairs(), 0u);
  sink_->settled(14);
  EXPECT_EQ(pairs(), 1u);
}

TEST_F(LatencySinkTest, AtTheSameTimeTheStartIsFirst) {
  begin();
  done(10, 0, 7);
  start(10, 1, 7);
  sink_->settled(kAll);
  EXPECT_EQ(pairs(), 1u);
}

TEST_F(LatencySinkTest, OneEventThatIsBothEndsWhatTheOneBeforeBegan) {
  begin({"user_events:start", "user_events:start", {"id"}, {"id"}, {}});
  for (std::uint64_t i = 0; i < 5; ++i) start(10 * i, 0, 7);
  sink_->settled(kAll);
  EXPECT_EQ(pairs(), 4u);
  EXPECT_EQ(sink_->pairs().starts_without_end(), 1u);
  EXPECT_EQ(sink_->pairs().ends_without_start(), 1u);
}

TEST_F(LatencySinkTest, TheThreadCanBeTheKey) {
  begin({"user_events:start", "user_events:done", {"common_pid"}, {"common_pid"}, {"common_cpu"}});
  const Start begun{1};
  const Done ended{2, ""};
  add(start_, 10, 0, output::bytes_of(begun), 77);
  add(done_, 20, 1, output::bytes_of(ended), 78);
  add(done_, 30, 1, output::bytes_of(ended), 77);
  sink_->settled(kAll);
  EXPECT_EQ(pairs(), 1u);
  EXPECT_EQ(sink_->table("ns").rows.at(0).keys.at(0).number, 1u);
  EXPECT_EQ(sink_->pairs().ends_without_start(), 1u);
}

TEST_F(LatencySinkTest, TextsAndSeveralFieldsCanBeKeys) {
  begin({"user_events:a", "user_events:b", {"name", "n"}, {"name", "n"}, {}});
  const output::EventType a = output::make_type(3, "a char[4] name; u16 n");
  const output::EventType b = output::make_type(4, "b u8 n; __rel_loc char[] name");
  sink_->type(a);
  sink_->type(b);
  const struct [[gnu::packed]] {
    char name[4] = {'x', 'y'};
    std::uint16_t n = 5;
  } first;
  struct [[gnu::packed]] {
    std::uint8_t n = 6;
    std::uint32_t name = 3u << 16;
    char text[3] = {'x', 'y'};
  } second;
  add(a, 10, 0, output::bytes_of(first));
  add(b, 20, 0, output::bytes_of(second));
  second.n = 5;
  add(b, 30, 0, output::bytes_of(second));
  sink_->settled(kAll);
  EXPECT_EQ(pairs(), 1u);
  EXPECT_EQ(sink_->pairs().ends_without_start(), 1u);
}

TEST_F(LatencySinkTest, ARealNumberIsOne) {
  begin({"user_events:start", "user_events:real", {"common_pid"}, {"common_pid"}, {"load", "share"}});
  const output::EventType real = output::make_type(3, "real struct float load 4; struct double share 8");
  sink_->type(real);
  const Start begun{1};
  const struct [[gnu::packed]] {
    float load = 1.5;
    double share = -2;
  } ended;
  add(start_, 10, 0, output::bytes_of(begun));
  add(real, 20, 0, output::bytes_of(ended));
  sink_->settled(kAll);
  const auto table = sink_->table("ns");
  EXPECT_EQ(table.keys.at(0).kind, ipc::KeyKind::kFloat);
  EXPECT_EQ(table.keys.at(1).kind, ipc::KeyKind::kDouble);
  EXPECT_EQ(table.rows.at(0).keys.at(0).number, std::bit_cast<std::uint32_t>(1.5f));
  EXPECT_EQ(table.rows.at(0).keys.at(1).number, std::bit_cast<std::uint64_t>(-2.0));
}

TEST_F(LatencySinkTest, AFieldThatAnEventHasNotIsNamed) {
  const auto complaint = [this](LatencySink::Request request) {
    begin(std::move(request));
    return sink_->fits() ? "" : sink_->fits().error().message;
  };
  EXPECT_EQ(complaint({"user_events:start", "user_events:done", {"id"}, {"number"}, {"no"}}),
            "--by: user_events:done has no field 'no'; it has number, route");
  EXPECT_EQ(complaint({"user_events:start", "user_events:done", {"id"}, {"id"}, {}}),
            "--key: user_events:done has no field 'id'; it has number, route");
  EXPECT_EQ(complaint({"user_events:start", "user_events:done", {"id"}, {"no"}, {}}),
            "--to-key: user_events:done has no field 'no'; it has number, route");
  EXPECT_EQ(complaint({"user_events:start", "user_events:done", {"number"}, {"number"}, {}}),
            "--key: user_events:start has no field 'number'; it has id");
}

TEST_F(LatencySinkTest, AGroupThatIsOfAnotherTypeAfterwardsIsRefused) {
  begin();
  sink_->type(output::make_type(3, "done s64 number; u32 route"));
  EXPECT_FALSE(sink_->fits());
  ASSERT_TRUE(sink_->misfit());
}

TEST_F(LatencySinkTest, ALocationOutsideOfThePayloadIsAnEmptyText) {
  begin({"user_events:a", "user_events:b", {"name"}, {"name"}, {}});
  const output::EventType a = output::make_type(3, "a __data_loc char[] name");
  const output::EventType b = output::make_type(4, "b char[4] name");
  sink_->type(a);
  sink_->type(b);
  const std::uint32_t far = 100u << 16 | 5000;
  const char none[4] = {};
  add(a, 10, 0, output::bytes_of(far));
  add(b, 20, 0, output::bytes_of(none));
  sink_->settled(kAll);
  EXPECT_EQ(pairs(), 1u);
}

class KeepingSink : public LatencySink {
 public:
  explicit KeepingSink(Request request, bool with_stacks) : LatencySink(std::move(request), Pairs::Limits()) {
    keep(with_stacks ? Kept::kStacks : Kept::kEvents);
  }
  using LatencySink::Paired;
  std::vector<Paired> pairs_told;

 private:
  void paired(Paired end) override { pairs_told.push_back(std::move(end)); }
};

class KeptPairsTest : public testing::Test {
 protected:
  struct Number {
    std::uint32_t id;
  };
  struct Stack {
    std::uint32_t tgid;
    std::uint32_t padding;
    std::uint64_t caller;
    std::uint64_t end;
  };
  explicit KeptPairsTest(bool with_stacks = true)
      : sink_({"user_events:start", "user_events:done", {"id"}, {"id"}, {}}, with_stacks) {
    stack_type_.system = "ftrace";
    for (const auto* const type : {&start_, &done_, &stack_type_}) sink_.type(*type);
  }
  void add(const output::EventType& type, std::uint64_t time_ns, std::int32_t tid, std::uint32_t id) {
    const Number payload{id};
    sink_.event({.time_ns = time_ns, .cpu = 0, .tid = tid, .event_id = type.id, .payload = output::bytes_of(payload)},
                type);
  }
  void stack(std::uint64_t time_ns, std::int32_t tid, std::uint64_t caller) {
    const Stack payload{7, 0, caller, 0};
    sink_.event({.time_ns = time_ns, .cpu = 0, .tid = tid, .event_id = 3, .payload = output::bytes_of(payload)},
                stack_type_);
  }

  output::EventType start_ = output::make_type(1, "start u32 id");
  output::EventType done_ = output::make_type(2, "done u32 id");
  output::EventType stack_type_ = output::make_type(3, "user_stack u32 tgid");
  KeepingSink sink_;
};

TEST_F(KeptPairsTest, HaveTheirEventAndItsThreadsStack) {
  add(start_, 10, 1, 7);
  add(start_, 11, 2, 8);
  add(done_, 20, 1, 7);
  add(done_, 21, 2, 8);
  stack(22, 1, 0x1000);
  stack(23, 2, 0x2000);
  stack(24, 2, 0x3000);
  stack(25, 9, 0x4000);
  sink_.settled(kAll);
  ASSERT_EQ(sink_.pairs_told.size(), 2u);
  EXPECT_EQ(sink_.pairs_told[0].ns, 10u);
  EXPECT_EQ(sink_.pairs_told[0].tid, 1);
  EXPECT_EQ(sink_.pairs_told[0].event_id, 2);
  EXPECT_EQ(sink_.pairs_told[0].payload.size(), sizeof(Number));
  EXPECT_EQ(sink_.pairs_told[0].stack.value().caller, std::vector<std::uint64_t>{0x1000});
  EXPECT_EQ(sink_.pairs_told[1].stack.value().caller, std::vector<std::uint64_t>{0x2000}) << "the first one behind it";
}

TEST_F(KeptPairsTest, WaitForTheirStack) {
  constexpr std::uint64_t kMs = 1'000'000;
  add(start_, 500 * kMs, 1, 7);
  add(done_, 501 * kMs, 1, 7);
  sink_.settled(502 * kMs);
  EXPECT_TRUE(sink_.pairs_told.empty());
  stack(503 * kMs, 1, 0x1000);
  sink_.settled(700 * kMs);
  ASSERT_EQ(sink_.pairs_told.size(), 1u);
  EXPECT_TRUE(sink_.pairs_told[0].stack);
}

class KeptEventsTest : public KeptPairsTest {
 protected:
  KeptEventsTest() : KeptPairsTest(false) {}
};

TEST_F(KeptEventsTest, WaitForNothing) {
  add(start_, 10, 1, 7);
  add(done_, 20, 1, 7);
  add(done_, 21, 1, 7);
  sink_.settled(22);
  ASSERT_EQ(sink_.pairs_told.size(), 1u) << "of an end without a start nothing is told";
  EXPECT_FALSE(sink_.pairs_told[0].stack);
}

}  // namespace
}  // namespace landtrace::measure
