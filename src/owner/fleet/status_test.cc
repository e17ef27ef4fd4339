#include "fleet/status.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

Status full_status() {
  Status status{.host = "web-1",
                .boot = "b",
                .domain = "system",
                .labels = {{"role", "web"}},
                .version = "1.0",
                .started = 1,
                .sequence = 2,
                .time_ns = 3,
                .interval_ms = 4,
                .users = 5,
                .events = 6,
                .enabled = 7,
                .recorded = 8,
                .lost = 9,
                .unsent = 10,
                .orders = {}};
  status.orders = {{"a", OrderState::Now::kApplied, 11, {}},
                   {"b", OrderState::Now::kRefused, 0, {{"u:e", "no field 'x'"}, {"", "no"}}},
                   {"c", OrderState::Now::kEnded, 12, {}, {"u:nosuch"}, {"u:e", "u:f"}}};
  return status;
}

TEST(StatusTest, IsReadAsItWasWritten) { EXPECT_EQ(*status_of(json_of(full_status())), full_status()); }

TEST(StatusTest, BytesThatAreNoTextDoNoHarm) {
  Status status;
  status.host = "h";
  status.orders = {{"a", OrderState::Now::kRefused, 0, {{"", "\xff"}}}};
  EXPECT_TRUE(status_of(json_of(status)));
}

TEST(StatusTest, WhatMakesNoSenseIsRefused) {
  for (const char* const json :
       {"", "{}", "[1]", R"({"host": 1})", R"({"host": "h", "orders": [{}]})", R"({"host": "h", "orders": 3})"}) {
    EXPECT_FALSE(status_of(json)) << json;
  }
  EXPECT_EQ(status_of(R"({"host": "h"})")->host, "h");
}

// To copy such a value takes some of the stack for each level.
TEST(StatusTest, WhatIsNestedWithoutEndIsRefused) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  for (const std::string& json :
       {R"({"host": "h", "orders": )" + deep + "}",
        R"({"host": "h", "orders": [{"id": "a", "state": "ended", "refusals": )" + deep + "}]}",
        R"({"host": "h", "of a newer version": )" + deep + "}"}) {
    EXPECT_EQ(status_of(json).error().code, EINVAL);
  }
}

TEST(StatusTest, WhatAMessageHasNoRoomForIsLeftOutFromTheEnd) {
  Status status = full_status();
  EXPECT_EQ(json_within(status, 1'000'000), json_of(status));
  for (int i = 0; i < 1000; ++i) status.orders.push_back({"old", OrderState::Now::kEnded, 0, {}});
  status.orders[0].refusals.assign(1000, {"u:e", "no field 'x'"});
  const std::string json = json_within(status, 4096);
  EXPECT_LE(json.size(), 4096u);
  const auto read = status_of(json);
  ASSERT_TRUE(read);
  ASSERT_GT(read->orders.size(), 10u);
  EXPECT_EQ(read->orders[0].id, "a");
  EXPECT_FALSE(read->orders[0].refusals.empty());
  EXPECT_EQ(read->orders[1], full_status().orders[1]);
  EXPECT_TRUE(status_of(json_within(status, 1))->orders.empty());
}

// As metrics ten thousand names that become one take minutes.
TEST(StatusTest, LabelsHaveNamesAndBounds) {
  Status status = full_status();
  for (std::size_t i = status.labels.size(); i < kMostLabels; ++i) status.labels["n" + std::to_string(i)] = "x";
  EXPECT_TRUE(status_of(json_of(status)));
  status.labels["one_more"] = "x";
  EXPECT_FALSE(status_of(json_of(status)));
  status.labels = {{"a", std::string(kMostLabelBytes - 1, 'x')}};
  EXPECT_TRUE(status_of(json_of(status)));
  status.labels = {{"a", std::string(kMostLabelBytes, 'x')}};
  EXPECT_FALSE(status_of(json_of(status)));
  for (const char* const name : {"", "_", "1", "a b", "\x1b"}) {
    status.labels = {{name, "x"}};
    EXPECT_FALSE(status_of(json_of(status))) << name;
  }
}

TEST(StatusTest, IsAwayAfterThreeIntervalsAndTenSeconds) {
  Status status;
  status.time_ns = 1'000'000'000;
  status.interval_ms = 4000;
  EXPECT_FALSE(status.is_away(13'000'000'000));
  EXPECT_TRUE(status.is_away(13'000'000'001));
  status.interval_ms = 100;
  EXPECT_FALSE(status.is_away(11'000'000'000));
  EXPECT_TRUE(status.is_away(11'000'000'001));
  EXPECT_FALSE(status.is_away(1)) << "its clock goes before this one";
}

TEST(StatusTest, EveryHostHasItsNameAsALabel) {
  EXPECT_EQ(full_status().all_labels(), (Labels{{"role", "web"}, {"host", "web-1"}, {"domain", "system"}}));
}

}  // namespace
}  // namespace landtrace::fleet
