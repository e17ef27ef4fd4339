#include "fleet/shape_votes.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(ShapeVotesTest, MostHostsDecide) {
  ShapeVotes votes;
  EXPECT_EQ(votes.most(), std::nullopt);
  votes.add("aaa", "x", 7);
  EXPECT_EQ(votes.most(), "x");
  votes.add("b", "y", 8);
  EXPECT_EQ(votes.most(), "x") << "the first of as many";
  votes.add("c", "y", 9);
  EXPECT_EQ(votes.most(), "y");
}

TEST(ShapeVotesTest, AHostHasOneVote) {
  ShapeVotes votes;
  for (int i = 0; i < 10; ++i) votes.add("aaa", "x", 1);
  votes.add("b", "y", 2);
  votes.add("c", "y", 3);
  EXPECT_EQ(votes.most(), "y");
}

// Hosts come by their names.
TEST(ShapeVotesTest, OfAsManyTheOneThatCameFirst) {
  ShapeVotes votes;
  votes.add("a", "x", 5);
  votes.add("b", "y", 6);
  votes.add("c", "y", 3);
  votes.add("d", "x", 4);
  EXPECT_EQ(votes.most(), "y");
}

}  // namespace
}  // namespace landtrace::fleet
