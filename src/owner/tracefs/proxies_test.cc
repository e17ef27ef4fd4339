#include "tracefs/proxies.hpp"

#include <gtest/gtest.h>

namespace landtrace::tracefs {
namespace {

TEST(ProxiesTest, EachThreadHasItsOwn) {
  const auto domain = *domain::Domain::create({.ring_bytes = 1 << 16});
  const auto proxies = std::make_shared<Proxies>(*domain);
  domain::Proxy* const mine = &proxies->mine();
  EXPECT_EQ(mine, &proxies->mine());
  domain::Proxy* theirs = mine;
  std::thread([&] { theirs = &proxies->mine(); }).join();
  EXPECT_NE(mine, theirs);
}

TEST(ProxiesTest, AThreadMayOutliveThem) {
  std::thread([] {
    const auto domain = *domain::Domain::create({.ring_bytes = 1 << 16});
    const auto proxies = std::make_shared<Proxies>(*domain);
    std::ignore = proxies->mine();
    proxies->close();
  }).join();
}

}  // namespace
}  // namespace landtrace::tracefs
