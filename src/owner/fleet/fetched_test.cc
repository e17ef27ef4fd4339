#include "fleet/fetched.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(FetchedTest, IsReadBack) {
  Fetched fetched{.host = "web-1", .domain = "system", .file = "0.dat", .problem = "", .end = SnapshotEnd()};
  fetched.end->clock = ClockOffset{-3, 4};
  EXPECT_EQ(fetched_of(json_of(fetched)).value_or(Fetched()), fetched);
  const Fetched nothing{.host = "a\nb", .domain = "", .file = "", .problem = "it was away"};
  EXPECT_EQ(json_of(nothing).find('\n'), std::string::npos) << "one a line";
  EXPECT_EQ(fetched_of(json_of(nothing)).value_or(Fetched()), nothing);
}

TEST(FetchedTest, GarbageIsRefused) {
  for (const char* const garbage : {"", "[]", R"({"host":"a"})", R"({"host":1,"domain":"","file":"","problem":""})",
                                    R"({"host":"a","domain":"","file":"","problem":"","end":"{}"})"}) {
    EXPECT_EQ(fetched_of(garbage).error().code, EBADMSG) << garbage;
  }
}

}  // namespace
}  // namespace landtrace::fleet
