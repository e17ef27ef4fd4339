#include "fleet/store_address.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(StoreAddressTest, HasItsPortAndDatabaseOrTheUsualOnes) {
  const auto plain = StoreAddress::parse("clickhouse://db");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->url(), "http://db:8123/");
  EXPECT_EQ(plain->database, "default");
  const auto all = StoreAddress::parse("clickhouses://[::1]:9/traces");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->url(), "https://[::1]:9/");
  EXPECT_EQ(all->database, "traces");
  EXPECT_EQ(StoreAddress::parse("clickhouses://db/")->url(), "https://db:8443/");
}

TEST(StoreAddressTest, AUserIsNotShown) {
  const auto address = StoreAddress::parse("clickhouse://me:p%40ss:%2f@db:1/x");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->user, "me");
  EXPECT_EQ(address->password, "p@ss:/");
  EXPECT_EQ(address->shown(), "clickhouse://db:1/x");
}

TEST(StoreAddressTest, AUserMayBeOfAFile) {
  StoreAddress address;
  ASSERT_TRUE(address.read_user("me:a:b%2f"));
  EXPECT_EQ(address.user, "me");
  EXPECT_EQ(address.password, "a:b%2f");
  EXPECT_FALSE(address.read_user(":x"));
  EXPECT_FALSE(address.read_user(""));
}

TEST(StoreAddressTest, NonsenseIsRefusedWithoutItsPassword) {
  for (const char* const text : {"", "http://db", "clickhouse://", "clickhouse://me:geheim@", "clickhouse://db:x",
                                 "clickhouse://db:0", "clickhouse://db:99999", "clickhouse://d b", "clickhouse://:1"}) {
    const auto address = StoreAddress::parse(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().message.find("geheim"), std::string::npos);
  }
}

TEST(StoreAddressTest, OptionsOfACollectorTravelAsJson) {
  const CollectOptions options{{"nats://a", "c"}, "clickhouse://db", "file", 7, 1u << 20};
  const auto again = collect_options_of(json_of(options));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, options);
  EXPECT_FALSE(collect_options_of("{}"));
  EXPECT_FALSE(collect_options_of("x"));
}

}  // namespace
}  // namespace landtrace::fleet
