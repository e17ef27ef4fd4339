#include "fleet/signed_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/order.hpp"

namespace landtrace::fleet {
namespace {

using testing::HasSubstr;

// Stands for a signature: what was signed, and by whom.
std::string signature_of(const std::string& json, const std::string& who = "op") {
  return who + ":" + *signed_bytes(json);
}
bool is_by_operator(std::string_view bytes, std::string_view signature) {
  return signature == "op:" + std::string(bytes);
}

Order order() {
  Order order;
  order.id = "abc";
  order.kind = Order::Kind::kEnable;
  order.event = "job";
  order.until_ns = 1000;
  return order;
}

std::string signed_json(const Order& order, const std::string& who = "op") {
  return *with_signature(json_of(order), signature_of(json_of(order), who));
}

std::string refusal(const std::string& json, const std::string& key = "abc", std::uint64_t now_ns = 10) {
  const auto verified = verified_order(key, json, now_ns, is_by_operator);
  return verified ? "" : verified.error().message;
}

TEST(SignedOrderTest, IsTakenAsItWasGiven) {
  const auto verified = verified_order("abc", signed_json(order()), 10, is_by_operator);
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(*order_of(*verified), order());
  EXPECT_EQ(*order_of(signed_json(order())), order()) << "hosts that trust everybody, and older ones";
}

TEST(SignedOrderTest, IsRefusedWithTheReason) {
  EXPECT_THAT(refusal(json_of(order())), HasSubstr("not signed"));
  EXPECT_THAT(refusal(signed_json(order(), "evil")), HasSubstr("no key that this host trusts"));
  EXPECT_THAT(refusal(signed_json(order()), "other"), HasSubstr("signed as the order 'abc'"));
  EXPECT_THAT(refusal(signed_json(order()), "abc", 1000), HasSubstr("had ended"));
  Order changed = order();
  changed.until_ns = 0;
  EXPECT_THAT(refusal(signed_json(changed)), HasSubstr("for ever"));
  changed.until_ns = ~0ull;
  EXPECT_THAT(refusal(signed_json(changed)), HasSubstr("30 days"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no sense"));
  EXPECT_THAT(refusal(R"({"signature":7})"), HasSubstr("not signed"));
}

// Whose bytes are made before anybody knows who has signed them.
TEST(SignedOrderTest, WhatIsNestedWithoutEndIsRefused) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  EXPECT_THAT(refusal(R"({"signature":"","x":)" + deep + "}"), HasSubstr("no sense"));
  EXPECT_FALSE(with_signature(R"({"x":)" + deep + "}", "op"));
}

// Each field by itself, those that this version does not know too.
TEST(SignedOrderTest, AnyChangeIsSeen) {
  const std::string json = signed_json(order());
  const std::pair<std::string, std::string> changes[] = {{R"("event":"job")", R"("event":"jab")"},
                                                         {R"("until_ns":1000)", R"("until_ns":1001)"},
                                                         {R"("where":"")", R"("where":"a=b")"},
                                                         {"{", R"({"new":1,)"},
                                                         {R"("kind":"enable")", R"("kind":"enable","kind":"tail")"}};
  for (const auto& [from, to] : changes) {
    std::string changed = json;
    const std::size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    EXPECT_THAT(refusal(changed), HasSubstr("changed since")) << from;
  }
  std::string spaced = json;
  spaced.insert(1, "  ");
  EXPECT_EQ(refusal(spaced), "") << "it says the same";
}

}  // namespace
}  // namespace landtrace::fleet
