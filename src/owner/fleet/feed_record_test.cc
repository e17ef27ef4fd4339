#include "fleet/feed_record.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

using Kind = FeedRecord::Kind;

TEST(FeedRecord, ComesOutAsItWentIn) {
  const FeedRecord status{Kind::kStatus, "landtrace.d.h.status", std::string("{\0}", 3)};
  const FeedRecord away{Kind::kAway, "", "nobody"};
  FeedReader reader;
  reader.add(encode(status) + encode(away));
  EXPECT_EQ(**reader.next(), status);
  EXPECT_EQ(**reader.next(), away);
  EXPECT_EQ(*reader.next(), std::nullopt);
}

TEST(FeedRecord, ComesInPieces) {
  const FeedRecord order{Kind::kOrder, "abc", "{}"};
  const std::string bytes = encode(order) + encode(order);
  FeedReader reader;
  int whole = 0;
  for (const char byte : bytes) {
    reader.add({&byte, 1});
    while (const auto next = *reader.next()) {
      EXPECT_EQ(*next, order);
      ++whole;
    }
  }
  EXPECT_EQ(whole, 2);
}

TEST(FeedRecord, OfAnotherKindOrSizeIsRefused) {
  FeedReader reader;
  reader.add("?12345678");
  EXPECT_EQ(reader.next().error().code, EPROTO);
  FeedReader large;
  large.add("S\xff\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_EQ(large.next().error().code, EPROTO);
}

}  // namespace
}  // namespace landtrace::fleet
