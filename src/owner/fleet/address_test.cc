#include "fleet/address.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

std::string refusal_of_address(const std::string& list) {
  const auto servers = servers_of(list);
  return servers ? "" : servers.error().message;
}

TEST(AddressTest, ServersAreAListWithCommas) {
  EXPECT_EQ(*servers_of("nats://a"), std::vector<std::string>{"nats://a"});
  EXPECT_EQ(*servers_of("nats://a:1,b:2,tls://c"), (std::vector<std::string>{"nats://a:1", "nats://b:2", "tls://c"}));
}

TEST(AddressTest, WhatIsNoServerIsQuoted) {
  EXPECT_EQ(refusal_of_address("http://a"), "--fleet: want nats://HOST[:PORT] or tls://HOST[:PORT], not 'http://a'");
  EXPECT_EQ(refusal_of_address("a,nats://"), "--fleet: want nats://HOST[:PORT] or tls://HOST[:PORT], not 'nats://'");
  EXPECT_NE(refusal_of_address("a,,b"), "");
  EXPECT_EQ(refusal_of_address(""), "--fleet: want nats://HOST[:PORT][,HOST[:PORT]...]");
}

TEST(AddressTest, PasswordsAreNotShown) {
  EXPECT_EQ(without_users("nats://u:p@a:1,tls://u:p@q@b,c"), "nats://a:1,tls://b,nats://c");
  EXPECT_EQ(without_users("http://u:p@a"), "") << "what is none of ours";
}

TEST(AddressTest, TlsIsForWhoSaysSo) {
  EXPECT_FALSE((Address{.servers = "nats://a"}).is_tls());
  EXPECT_TRUE((Address{.servers = "nats://b,tls://a"}).is_tls());
  EXPECT_TRUE((Address{.servers = "nats://a", .ca = "f"}).is_tls());
  EXPECT_TRUE((Address{.servers = "nats://a", .cert = "f"}).is_tls());
}

TEST(AddressTest, IsReadAsItWasWritten) {
  const Address address{"nats://u:p@a", "1", "2", "3", "4"};
  EXPECT_EQ(*address_of(json_of(address)), address);
  const AgentOptions options{.socket = "/s",
                             .address = address,
                             .host = "h",
                             .domain = "d",
                             .labels = "a=b",
                             .version = "v",
                             .left_out = {"x", "y"},
                             .histograms = {"a:*"},
                             .trust = "/keys",
                             .interval_ms = 5,
                             .most_bytes = 6,
                             .ended_kept_ms = 7};
  EXPECT_EQ(*agent_options_of(json_of(options)), options);
  EXPECT_FALSE(address_of("[]"));
  EXPECT_FALSE(agent_options_of("{}"));
  EXPECT_FALSE(agent_options_of("{"));
}

TEST(AddressTest, AUserIsWhatHasAPassword) {
  EXPECT_EQ(user_of("nats://web-1:secret@a:4222,nats://other:x@b"), "web-1");
  EXPECT_EQ(user_of("tls://web-1:se:cr@et@a"), "web-1");
  EXPECT_EQ(user_of("web-1:secret@a"), "web-1");
  EXPECT_EQ(user_of("nats://token@a:4222"), "");
  EXPECT_EQ(user_of("nats://a:4222"), "");
  EXPECT_EQ(user_of("http://u:p@a"), "");
}

}  // namespace
}  // namespace landtrace::fleet
