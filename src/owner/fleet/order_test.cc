#include "fleet/order.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

Order full_order() {
  return {.id = "x1",
          .kind = Order::Kind::kLatency,
          .where = "role=web",
          .event = "a:b",
          .to = "a:c",
          .key = {"id", "n"},
          .to_key = {"number", "m"},
          .by = {"route"},
          .stack = true,
          .filter = "id > 5",
          .triggers = {"traceoff"},
          .probe = {"/lib/x.so", "f+4", true, "a=$arg1", "f"},
          .made_ns = 1,
          .until_ns = 2'000'000'000'000'000'000,
          .interval_ms = 3,
          .moment_ns = 4,
          .by_whom = "me"};
}

std::string refusal_of_order(const std::string& json) {
  const auto order = order_of(json);
  if (order) return "";
  EXPECT_EQ(order.error().code, EINVAL);
  return order.error().message;
}

TEST(OrderTest, IsReadAsItWasWritten) {
  EXPECT_EQ(*order_of(json_of(full_order())), full_order());
  for (const auto kind :
       {Order::Kind::kEnable, Order::Kind::kHist, Order::Kind::kLatency, Order::Kind::kTail, Order::Kind::kSnapshot}) {
    Order order = full_order();
    order.kind = kind;
    EXPECT_EQ(order_of(json_of(order))->kind, kind);
  }
}

TEST(OrderTest, WhatIsMissingIsAsInAnEmptyOne) {
  EXPECT_EQ(*order_of(R"({"id": "x", "kind": "enable", "event": "e", "later": 1})"),
            (Order{.id = "x", .kind = Order::Kind::kEnable, .event = "e"}));
}

TEST(OrderTest, WhatMakesNoSenseIsRefused) {
  for (const char* const json :
       {"", "[]", "{", "{}", R"({"id": "x", "kind": "enable"})", R"({"id": 5, "kind": "enable", "event": "e"})",
        R"({"id": "x", "kind": "enable", "event": "e", "key": "id"})"}) {
    EXPECT_EQ(refusal_of_order(json), "an order that makes no sense") << json;
  }
  EXPECT_EQ(refusal_of_order(R"({"id": "x", "kind": "dance", "event": "e"})"),
            "an order of the kind 'dance' is not known here: update this host");
}

TEST(OrderTest, WhatIsNestedWithoutEndIsRefused) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  EXPECT_EQ(refusal_of_order(R"({"id": "x", "kind": "enable", "event": "e", "probe": )" + deep + "}"),
            "an order that makes no sense");
}

TEST(OrderTest, ASnapshotsEventIsPatternsWithCommas) {
  EXPECT_TRUE(patterns_of("")->empty());
  const auto patterns = patterns_of("job,user_events:req_*");
  ASSERT_TRUE(patterns);
  ASSERT_EQ(patterns->size(), 2u);
  EXPECT_EQ((*patterns)[0].text(), "job");
  EXPECT_TRUE((*patterns)[1].matches("user_events", "req_done"));
  for (const char* const mistake : {",", "a,", ",a", "a,,b", "a,b["}) {
    EXPECT_EQ(patterns_of(mistake).error().code, EINVAL) << mistake;
  }
}

TEST(OrderTest, EndsWhenItsTimeHasCome) {
  Order order;
  EXPECT_FALSE(order.has_ended(~0ull)) << "one without an end";
  order.until_ns = 10;
  EXPECT_FALSE(order.has_ended(9));
  EXPECT_TRUE(order.has_ended(10));
}

TEST(OrderTest, IsAboutAnEventOrAProbeAsItWasGiven) {
  Order order{.id = "x", .kind = Order::Kind::kHist, .event = "u:e"};
  EXPECT_EQ(about(order), "hist u:e");
  EXPECT_EQ(about({.kind = Order::Kind::kSnapshot}), "snapshot every event");
  order.event = probe_group("x") + ":malloc";
  order.probe = {.object = "libc.so.6", .place = "malloc", .arguments = "size=$arg1", .name = "malloc"};
  EXPECT_EQ(about(order), "hist -p 'libc.so.6:malloc size=$arg1'");
  order.kind = Order::Kind::kEnable;
  order.probe.is_return = true;
  order.probe.arguments = "";
  EXPECT_EQ(about(order), "probe 'libc.so.6:malloc%return'");
}

}  // namespace
}  // namespace landtrace::fleet
