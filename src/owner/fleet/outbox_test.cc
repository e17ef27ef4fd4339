#include "fleet/outbox.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

std::string next(Outbox& box) {
  const auto letter = box.take();
  return letter ? letter->subject + "=" + letter->bytes : "";
}

TEST(OutboxTest, WhatWaitsLongestIsNext) {
  Outbox box(100);
  EXPECT_TRUE(box.put({"a", "1"}));
  EXPECT_TRUE(box.put({"b", "2"}));
  EXPECT_EQ(next(box), "a=1");
  EXPECT_EQ(next(box), "b=2");
  EXPECT_EQ(next(box), "");
  EXPECT_EQ(box.bytes(), 0u);
}

TEST(OutboxTest, OfASubjectTheNewestIsThereInThePlaceOfTheOlderOne) {
  Outbox box(100);
  box.put({"a", "1"});
  box.put({"b", "2"});
  box.put({"a", "333"});
  EXPECT_EQ(box.bytes(), 6u);
  EXPECT_EQ(next(box), "a=333");
  EXPECT_EQ(next(box), "b=2");
  EXPECT_TRUE(box.is_empty());
}

// On a link that is slower than what changes.
TEST(OutboxTest, EachSubjectHasItsTurnWhateverComesMeanwhile) {
  Outbox box(100);
  std::string taken;
  for (int round = 0; round < 3; ++round) {
    for (const char* const subject : {"a", "b", "c"}) box.put({subject, "1"});
    taken += box.take()->subject;
  }
  EXPECT_EQ(taken, "abc");
}

TEST(OutboxTest, ItHasAnEnd) {
  Outbox box(10);
  EXPECT_TRUE(box.put({"a", "1234"}));
  EXPECT_TRUE(box.put({"b", "1234"}));
  EXPECT_FALSE(box.put({"c", ""}));
  EXPECT_FALSE(box.put({"a", "12345"}));
  EXPECT_EQ(box.dropped(), 2u);
  EXPECT_EQ(next(box), "a=1234") << "what was there stays";
  EXPECT_TRUE(box.put({"c", "1234"}));
  EXPECT_EQ(box.bytes(), 10u);
}

TEST(OutboxTest, WhatWasNotSentIsNextAgain) {
  Outbox box(100);
  box.put({"a", "1"});
  box.put({"b", "2"});
  box.put_back(*box.take());
  EXPECT_EQ(box.bytes(), 4u);
  EXPECT_EQ(next(box), "a=1");
}

TEST(OutboxTest, ButNotBeforeANewerOne) {
  Outbox box(100);
  box.put({"a", "1"});
  auto letter = *box.take();
  box.put({"a", "2"});
  box.put_back(std::move(letter));
  EXPECT_EQ(next(box), "a=2");
  EXPECT_EQ(next(box), "");
  EXPECT_EQ(box.dropped(), 0u);
}

// It may be the last frame of an order that has ended: nobody would send it again.
TEST(OutboxTest, AndHasRoomWhateverWasPutThereMeanwhile) {
  Outbox box(3);
  box.put({"a", "1"});
  auto letter = *box.take();
  box.put({"b", "12"});
  box.put_back(std::move(letter));
  EXPECT_EQ(box.dropped(), 0u);
  EXPECT_EQ(box.bytes(), 5u);
  EXPECT_FALSE(box.put({"c", ""}));
  EXPECT_EQ(next(box), "a=1");
  EXPECT_EQ(next(box), "b=12");
  EXPECT_EQ(box.bytes(), 0u);
}

TEST(OutboxTest, WhetherThereIsRoomCanBeAskedWithoutBeingCounted) {
  Outbox box(4);
  box.put({"a", "123"});
  EXPECT_FALSE(box.has_room({"b", ""}));
  EXPECT_TRUE(box.has_room({"a", "12"}));
  EXPECT_FALSE(box.has_room({"a", "1234"}));
  EXPECT_EQ(box.dropped(), 0u);
}

TEST(OutboxTest, WhatHasArrivedAfterAllIsNotSentAgain) {
  Outbox box(100);
  Outbox::Letter sent{"a", "1"};
  sent.number = 7;
  box.put({"b", "2"});
  box.put_back(sent);
  box.forget(0);
  box.forget(6);
  EXPECT_EQ(box.bytes(), 4u);
  box.forget(7);
  EXPECT_EQ(next(box), "b=2");
  EXPECT_EQ(box.bytes(), 0u);
  box.put_back(sent);
  box.put({"a", "newer"});
  box.forget(7);
  EXPECT_EQ(next(box), "a=newer") << "that is another one";
}

// Else it would be sent only when all that changes has been, within one interval.
TEST(OutboxTest, WhatIsBehindOthersIsBehindLastOnesAlone) {
  Outbox box(100);
  box.put({"a", "1"});
  box.put({"status", "1", true});
  box.put({"b", "1"});
  box.put({"status", "2", true});
  EXPECT_EQ(next(box), "status=2");
  box.put({"status", "3", true});
  box.put({"a", "last", false, true});
  EXPECT_EQ(next(box), "status=3") << "it does not say that anything has ended";
  box.put({"c", "1"});
  box.put({"b", "last", false, true});
  box.put({"status", "4", true});
  box.put({"status", "5", true});
  EXPECT_EQ(box.bytes(), 19u);
  EXPECT_EQ(next(box), "a=last");
  EXPECT_EQ(next(box), "b=last");
  EXPECT_EQ(next(box), "status=5");
  EXPECT_EQ(next(box), "c=1");
  EXPECT_EQ(box.bytes(), 0u);
}

TEST(OutboxTest, WhatIsBehindOthersWaitsUntilTheyHaveArrived) {
  Outbox box(100);
  box.put({"a", "1", false, true});
  box.put({"status", "2", true});
  box.put({"b", "3"});
  EXPECT_EQ(box.take(true)->subject, "a");
  EXPECT_FALSE(box.take(false));
  EXPECT_EQ(box.take(true)->subject, "status");
  EXPECT_EQ(box.take(false)->subject, "b");
}

}  // namespace
}  // namespace landtrace::fleet
