#include "fleet/fleet_families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/subjects.hpp"
#include "metrics/text.hpp"

namespace landtrace::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kSecond_ns = 1'000'000'000;

class FleetFamiliesTest : public testing::Test {
 protected:
  void say(const std::string& host, std::uint64_t time_ns, const std::vector<OrderState>& orders = {}) {
    Status status{.host = host, .domain = "system", .labels = {{"role", "web"}, {"job", "x"}}, .version = "1.0"};
    status.time_ns = time_ns;
    status.interval_ms = 10'000;
    status.recorded = 7;
    status.lost = 3;
    status.unsent = 2;
    status.orders = orders;
    roster_.take(subject_of(status), json_of(status), {figures_.now_ns, figures_.now_ns});
  }
  std::string text() { return metrics::text_of(families_of(figures_), metrics::TextFormat::kPrometheus); }

  Roster roster_;
  FleetFigures figures_{.is_connected = true, .roster = roster_, .now_ns = 100 * kSecond_ns};
};

TEST_F(FleetFamiliesTest, HostsAreHereOrAwayAndSayWhatTheyLost) {
  say("web-1", 95 * kSecond_ns);
  say("we\"b-2", 10 * kSecond_ns);
  const std::string all = text();
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_hosts{state=\"here\"} 1\nlandtrace_fleet_hosts{state=\"away\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_host_up{host=\"web-1\",domain=\"system\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_host_up{host=\"we\\\"b-2\",domain=\"system\"} 0\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_host_info{host=\"web-1\",domain=\"system\",version=\"1.0\",key_job=\"x\","
                             "role=\"web\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_recorded_events_total{host=\"web-1\",domain=\"system\"} 7\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_lost_events_total{host=\"web-1\",domain=\"system\"} 3\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_unsent_frames_total{host=\"web-1\",domain=\"system\"} 2\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_connected 1\n"));
}

TEST_F(FleetFamiliesTest, HostsThatAreAwayTakeNoRoomOfThoseThatAreHere) {
  for (std::size_t i = 0; i < metrics::kMostSeries; ++i) say("a" + std::to_string(i), 10 * kSecond_ns);
  say("z", 95 * kSecond_ns);
  const std::string all = text();
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_host_up{host=\"z\",domain=\"system\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_recorded_events_total{host=\"z\",domain=\"system\"} 7\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_hosts{state=\"away\"} 10000\n"));
}

TEST_F(FleetFamiliesTest, OfOrdersThatThereAreIsToldWhatHostsMadeOfThem) {
  say("a", 95 * kSecond_ns, {{"abc", OrderState::Now::kApplied, 11, {}}, {"gone", OrderState::Now::kApplied, 5, {}}});
  say("b", 95 * kSecond_ns, {{"abc", OrderState::Now::kRefused, 0, {{"", "no"}}}});
  Order order;
  order.kind = Order::Kind::kHist;
  figures_.orders.emplace("abc", order);
  const std::string all = text();
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_order_hosts{order=\"abc\",kind=\"hist\",state=\"applied\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_order_hosts{order=\"abc\",kind=\"hist\",state=\"refused\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_order_events_total{order=\"abc\",kind=\"hist\"} 11\n"));
  EXPECT_THAT(all, Not(HasSubstr("gone")));
}

TEST_F(FleetFamiliesTest, ASpreadHasABucketForEachPowerOfTwo) {
  Spreads spreads{.event = "u:e", .value = "took_ns", .by = {"host", "event"}};
  SpreadGroup group{.key = {"a", "/"}, .count = 6};
  group.spread.add_step(33, 32, 1, 33);
  group.spread.add_step(40, 32, 2, 80);
  group.spread.add_step(200, 32, 3, 600);
  spreads.groups.push_back(group);
  figures_.counts["abc"].push_back(spreads);
  const std::string labels = "order=\"abc\",event=\"u:e\",of=\"took_ns\",host=\"a\",key_event=\"/\"";
  EXPECT_THAT(text(), HasSubstr("# TYPE landtrace_fleet_histogram histogram\n"
                                "landtrace_fleet_histogram_bucket{" +
                                labels + ",le=\"63.0\"} 3\n" + "landtrace_fleet_histogram_bucket{" + labels +
                                ",le=\"127.0\"} 3\n" + "landtrace_fleet_histogram_bucket{" + labels +
                                ",le=\"255.0\"} 6\n" + "landtrace_fleet_histogram_bucket{" + labels +
                                ",le=\"+Inf\"} 6\n" + "landtrace_fleet_histogram_sum{" + labels + "} 713\n" +
                                "landtrace_fleet_histogram_count{" + labels + "} 6\n"));
}

TEST_F(FleetFamiliesTest, WhatIsTooMuchIsLeftOutTheSameEachTimeAndCounted) {
  Spreads spreads{.event = "u:e", .by = {"host"}};
  for (std::size_t i = 0; i < kMostFleetGroups + 5; ++i) {
    spreads.groups.push_back({.key = {std::to_string(kMostFleetGroups + 5 - i + 10'000)}, .count = i});
  }
  figures_.counts["abc"].push_back(spreads);
  const std::string all = text();
  EXPECT_THAT(all, HasSubstr("host=\"10001\""));
  EXPECT_THAT(all, HasSubstr("host=\"12000\""));
  EXPECT_THAT(all, Not(HasSubstr("host=\"12001\"")));
  EXPECT_THAT(all, HasSubstr("landtrace_fleet_metrics_left_out 5\n"));
}

}  // namespace
}  // namespace landtrace::fleet
