#include "metrics/own_name.hpp"

#include <gtest/gtest.h>

namespace landtrace::metrics {
namespace {

TEST(OwnNameTest, LocalhostAndNumbersOfTheLoopbackInterface) {
  for (const char* const host : {"", "localhost", "localhost:9464", "127.0.0.1", "127.0.0.1:9464", "127.1.2.3:1",
                                 "[::1]", "[::1]:9464"}) {
    EXPECT_TRUE(is_own_name(host)) << host;
  }
}

TEST(OwnNameTest, AnyOtherNameIsSomebodyElses) {
  for (const char* const host :
       {"evil.example", "127.evil.example", "127.evil.example:9464", "127.0.0.1.evil.example:9464", "127.0.0.1x",
        "127.1", "127.", "128.0.0.1", "localhost.evil.example", "[::1].evil.example", "[::2]:9464", "[::1", "["}) {
    EXPECT_FALSE(is_own_name(host)) << host;
  }
}

}  // namespace
}  // namespace landtrace::metrics
