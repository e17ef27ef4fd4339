#include "ui/access.hpp"

#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

class AccessTest : public testing::Test {
 protected:
  [[nodiscard]] std::string check(const Asked& asked) const {
    const auto behind = access_.check(asked);
    return behind ? "behind '" + *behind + "'" : behind.error().message;
  }
  // What the page itself sends.
  const Asked own_{"POST", "/f00d/write", "127.0.0.1:4711", "http://127.0.0.1:4711", "same-origin", "1"};
  const Access access_{"f00d", {"127.0.0.1:4711", "localhost:4711"}};
};

TEST_F(AccessTest, TheUserAndThePageMay) {
  EXPECT_EQ(check({"GET", "/f00d/", "127.0.0.1:4711", "", "none", ""}), "behind ''");
  EXPECT_EQ(check({"GET", "/f00d/stream", "localhost:4711", "", "same-origin", ""}), "behind 'stream'");
  EXPECT_EQ(check({"GET", "/f00d/", "127.0.0.1:4711", "", "", ""}), "behind ''");
  EXPECT_EQ(check(own_), "behind 'write'");
}

TEST_F(AccessTest, WithoutTheTokenNobodyMay) {
  for (const char* const path : {"/", "/f00d", "/f00e/", "/f00/", "/f00d0/", "", "f00d/", "//f00d/"}) {
    Asked asked = own_;
    asked.path = path;
    EXPECT_EQ(check(asked), "no token") << path;
  }
}

TEST_F(AccessTest, AnotherNameOfThisAddressIsNone) {
  for (const char* const host : {"evil.example:4711", "127.0.0.1", "127.0.0.1:4712", ""}) {
    Asked asked = own_;
    asked.host = host;
    EXPECT_EQ(check(asked), "the host is another's") << host;
  }
}

TEST_F(AccessTest, WhereItListensAtAllAddressesAnyNumberIsItsOwn) {
  const Access open("f00d", {"*:4711"});
  for (const char* const host : {"192.0.2.1:4711", "127.0.0.1:4711", "[::1]:4711"}) {
    EXPECT_TRUE(open.check({"GET", "/f00d/", host, "", "", ""})) << host;
  }
  for (const char* const host :
       {"evil.example:4711", "192.0.2.1:4712", "192.0.2.1", "::1:4711", ":4711", "[::1:4711", ""}) {
    EXPECT_FALSE(open.check({"GET", "/f00d/", host, "", "", ""})) << host;
  }
}

TEST_F(AccessTest, AnotherSitesPageMayNot) {
  for (const char* const origin : {"http://evil.example", "null", "https://127.0.0.1:4711", "http://localhost:4711"}) {
    Asked asked = own_;
    asked.origin = origin;
    EXPECT_EQ(check(asked), "the page is another site's") << origin;
  }
  for (const char* const site : {"cross-site", "same-site"}) {
    EXPECT_EQ(check({"GET", "/f00d/stream", "127.0.0.1:4711", "", site, ""}), "the page is another site's") << site;
  }
}

TEST_F(AccessTest, WhatChangesSomethingNeedsOriginAndMarker) {
  Asked asked = own_;
  asked.origin = "";
  EXPECT_EQ(check(asked), "no page of ours asks");
  asked = own_;
  asked.marker = "";
  EXPECT_EQ(check(asked), "no page of ours asks");
}

TEST_F(AccessTest, TokensAreLongAndDiffer) {
  const auto first = Access::make_token();
  const auto second = Access::make_token();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size(), 32u);
  EXPECT_EQ(first->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(*first, *second);
}

}  // namespace
}  // namespace landtrace::ui
