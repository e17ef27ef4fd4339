#include "fleet/shape_votes.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(ShapeVotesTest, MostHostsDecide) {
  ShapeVotes votes;
  EXPECT_EQ(votes.most(), std::nullopt);
  votes.add("aaa", "x");
  EXPECT_EQ(votes.most(), "x");
  votes.add("b", "y");
  EXPECT_EQ(votes.most(), "x") << "the first of as many";
  votes.add("c", "y");
  EXPECT_EQ(votes.most(), "y");
}

TEST(ShapeVotesTest, AHostHasOneVote) {
  ShapeVotes votes;
  for (int i = 0; i < 10; ++i) votes.add("aaa", "x");
  votes.add("b", "y");
  votes.add("c", "y");
  EXPECT_EQ(votes.most(), "y");
}

}  // namespace
}  // namespace landtrace::fleet
