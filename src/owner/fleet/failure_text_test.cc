#include "fleet/failure_text.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(FailureTextTest, PlacesInASourceAreLeftOut) {
  EXPECT_EQ(without_places("(conn.c:2088): No server available"), "No server available");
  EXPECT_EQ(without_places("(js.c:1): (sub.c:703): Timeout"), "Timeout");
  EXPECT_EQ(without_places("Timeout"), "Timeout");
  EXPECT_EQ(without_places("(no place): Timeout"), "(no place): Timeout");
  EXPECT_EQ(without_places("(sub.c:703)"), "(sub.c:703)");
  EXPECT_EQ(without_places(""), "");
}

TEST(FailureTextTest, WhoDoesNotAnswerIsNamed) {
  EXPECT_NE(nobody_answers("nats://a").find("nobody answers at nats://a: is a nats-server running"), std::string::npos);
}

}  // namespace
}  // namespace landtrace::fleet
