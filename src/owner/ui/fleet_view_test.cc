#include "ui/fleet_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fleet/subjects.hpp"

namespace landtrace::ui {
namespace {

using Json = nlohmann::json;
using Kind = fleet::FeedRecord::Kind;

class FleetViewTest : public testing::Test {
 protected:
  void say(const std::string& host, const fleet::Labels& labels, std::uint64_t sequence = 1) {
    fleet::Status status{.host = host, .domain = "system", .labels = labels};
    status.sequence = sequence;
    status.orders = {{"abc", fleet::OrderState::Now::kRefused, 0, {{"u:e", "no field"}}}};
    view_.take({Kind::kStatus, fleet::subject_of(status), fleet::json_of(status)});
  }
  void give(const std::string& id) {
    view_.take({Kind::kOrder, id, R"({"id":"other","kind":"enable","event":"u:*"})"});
  }
  Json news(bool all) { return Json::parse(view_.news(all)); }

  FleetView view_{{"/nowhere", "/nowhere", "nats://a:4222"}};
};

TEST_F(FleetViewTest, HostsThatHaveChangedAreTold) {
  say("web-1", {{"role", "web"}});
  say("db-1", {{"role", "db"}});
  EXPECT_EQ(news(false)["hosts"].size(), 2u);
  EXPECT_TRUE(news(false)["hosts"].empty());
  say("db-1", {{"role", "db"}}, 2);
  const Json changed = news(false)["hosts"];
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0]["host"], "db-1");
  EXPECT_EQ(changed[0]["number"], 2);
  EXPECT_EQ(changed[0]["orders"][0]["refusals"], Json::parse(R"([["u:e", "no field"]])"));
  EXPECT_EQ(news(true)["hosts"].size(), 2u);
}

TEST_F(FleetViewTest, HostsAreChosenByAnExpression) {
  say("web-1", {{"role", "web"}});
  say("db-1", {{"role", "db"}});
  EXPECT_EQ(*view_.choose("role=web"), "[1]");
  EXPECT_EQ(Json::parse(*view_.choose("")).size(), 2u);
  const auto mistake = view_.choose("role=web &&");
  ASSERT_FALSE(mistake);
  EXPECT_THAT(mistake.error().message, testing::HasSubstr("role=web &&\n"));
  EXPECT_THAT(mistake.error().message, testing::EndsWith("^"));
}

TEST_F(FleetViewTest, AnOrderIsCalledByItsKeyUntilItIsGone) {
  give("abc");
  view_.take({Kind::kOrder, "bad", "{"});
  Json told = news(false);
  ASSERT_EQ(told["orders"].size(), 1u);
  EXPECT_EQ(told["orders"][0]["id"], "abc");
  EXPECT_EQ(told["refusedOrders"], Json::parse(R"(["bad"])"));
  EXPECT_FALSE(news(false).contains("orders"));
  view_.take({Kind::kGone, "abc", {}});
  EXPECT_TRUE(news(false)["orders"].empty());
}

TEST_F(FleetViewTest, WhatSpeaksForAnotherHostIsLeftOutAndNamed) {
  fleet::Status status{.host = "web-1", .domain = "system"};
  view_.take({Kind::kStatus, "landtrace.system.db-1.status", fleet::json_of(status)});
  EXPECT_TRUE(news(true)["hosts"].empty());
  EXPECT_EQ(news(true)["refusedHosts"][0], "landtrace.system.db-1.status");
}

TEST_F(FleetViewTest, FramesCountForWhoAskedForThem) {
  fleet::Frame frame;
  frame.host = "web-1";
  frame.boot = "b";
  frame.domain = "system";
  frame.order = "abc";
  frame.event = "u:e";
  frame.generation = frame.sequence = 1;
  frame.table.keys = {{ipc::KeyKind::kText, "route", 0}};
  frame.table.rows = {{{{0, "<b>", {}}}, 3, {}}};
  const fleet::FeedRecord record{Kind::kFrame, fleet::subject_of(frame), fleet::encode(frame)};
  view_.take(record);
  EXPECT_TRUE(Json::parse(*view_.counts("abc", "route"))["events"].empty());
  view_.take(record);
  const Json counts = Json::parse(*view_.counts("abc", "host"));
  EXPECT_EQ(counts["events"][0]["groups"][0], Json::parse(R"({"key": ["web-1"], "count": 3})"));
  // What was asked for before is made again in its time.
  const auto by_route = [&] { return Json::parse(*view_.counts("abc", "route"))["events"]; };
  while (by_route().empty()) {
  }
  EXPECT_EQ(by_route()[0]["groups"][0]["key"][0], "<b>");
  EXPECT_EQ(view_.counts("a\nb", "").error().code, EINVAL);
  EXPECT_EQ(view_.counts(">", "").error().code, EINVAL);
}

TEST_F(FleetViewTest, TheTransportsStateIsTold) {
  EXPECT_EQ(news(false)["isConnected"], false);
  view_.take({Kind::kConnected, {}, {}});
  EXPECT_EQ(news(false)["isConnected"], true);
  view_.take({Kind::kAway, {}, "nobody answers"});
  EXPECT_EQ(news(false)["said"], "nobody answers");
}

}  // namespace
}  // namespace landtrace::ui
