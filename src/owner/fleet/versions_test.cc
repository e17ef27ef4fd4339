// What agents and operators of earlier releases sent, as it was recorded: FILE_VERSION, its subject in the first line.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "fleet/order.hpp"
#include "fleet/sums.hpp"
#include "fleet/status.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

struct Recorded {
  std::string subject;
  std::string bytes;
};

Recorded recorded(const std::string& name) {
  std::ifstream file(std::string(LANDTRACE_RECORDED "/") + name, std::ios::binary);
  Recorded one;
  std::getline(file, one.subject);
  one.bytes.assign(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(one.bytes.empty()) << name;
  return one;
}

// Two hosts of which one is of another release count together.
TEST(VersionsTest, AHistogramOfVersionOne) {
  const Recorded frame = recorded("frame_histogram_1");
  Frame own = *decode_frame(frame.bytes);
  Sums sums;
  EXPECT_EQ(*sums.add(frame.subject, frame.bytes), Sums::Was::kNews);
  own.host = "of-today";
  EXPECT_EQ(*sums.add(subject_of(own), encode(own)), Sums::Was::kNews);
  const std::vector<Sum> all = sums.of(own.order);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].event, "user_events:job");
  EXPECT_EQ(all[0].hosts, 2u);
  EXPECT_TRUE(all[0].misfits.empty());
  EXPECT_EQ(all[0].table.hits, 658u);
  std::uint64_t hits = 0, sum = 0;
  for (const ipc::HistogramRow& row : all[0].table.rows) {
    hits += row.hits;
    EXPECT_EQ(row.hits % 2, 0u);
    sum += row.values[0];
  }
  EXPECT_EQ(hits, 658u);
  EXPECT_EQ(sum, 2u * (299 * 300 / 2 + 28 * 29 / 2));
  EXPECT_EQ(own.labels, "role=web,zone=a");
  EXPECT_EQ(own.time_ns / 1'000'000'000, 1'795'516'678u);
}

TEST(VersionsTest, ALatencyOfVersionOne) {
  const Recorded frame = recorded("frame_latency_1");
  Sums sums;
  EXPECT_EQ(*sums.add(frame.subject, frame.bytes), Sums::Was::kNews);
  const Frame head = *decode_head(frame.bytes);
  EXPECT_TRUE(head.is_last);
  const std::vector<Sum> all = sums.of(head.order, {"zone"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].event, "user_events:req_start -> user_events:req_done");
  EXPECT_EQ(all[0].table.hits, 1000u);
  EXPECT_EQ(all[0].table.keys.front().name, "zone");
  EXPECT_EQ(all[0].table.rows.front().keys.front().text, "a");
  EXPECT_EQ(all[0].unpaired, Unpaired());
}

TEST(VersionsTest, AStatusOfVersionOne) {
  const Recorded said = recorded("status_1");
  const auto status = status_in(said.subject, said.bytes);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->host, "web-1.example");
  EXPECT_EQ(status->labels, (Labels{{"role", "web"}, {"zone", "a"}}));
  EXPECT_EQ(status->interval_ms, 1000u);
  EXPECT_EQ(status->events, 1u);
  ASSERT_EQ(status->orders.size(), 3u);
  EXPECT_EQ(status->orders[0].now, OrderState::Now::kApplied);
  EXPECT_EQ(status->orders[0].events, 329u);
  EXPECT_EQ(status->orders[1].now, OrderState::Now::kEnded);
  ASSERT_EQ(status->orders[2].refusals.size(), 1u);
  EXPECT_EQ(status->orders[2].refusals[0].event, "user_events:job");
  EXPECT_TRUE(status->orders[2].refusals[0].reason.starts_with("the filter 'nosuch > 5'"));
}

TEST(VersionsTest, OrdersOfVersionOne) {
  const auto histogram = order_of(recorded("order_histogram_1").bytes);
  ASSERT_TRUE(histogram) << histogram.error().message;
  EXPECT_EQ(histogram->kind, Order::Kind::kHist);
  EXPECT_EQ(histogram->event, "job");
  EXPECT_EQ(histogram->where, "role=web");
  EXPECT_EQ(histogram->triggers, std::vector<std::string>{"hist:keys=source,sequence.log2=32:vals=sequence"});
  const auto latency = order_of(recorded("order_latency_1").bytes);
  ASSERT_TRUE(latency) << latency.error().message;
  EXPECT_EQ(latency->kind, Order::Kind::kLatency);
  EXPECT_EQ(latency->to, "user_events:req_done");
  EXPECT_EQ(latency->by, std::vector<std::string>{"route"});
  EXPECT_EQ(latency->until_ns - latency->made_ns, 600'000'000'000u);
}

}  // namespace
}  // namespace landtrace::fleet
