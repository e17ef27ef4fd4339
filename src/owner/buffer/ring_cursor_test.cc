#include "buffer/ring_cursor.hpp"

#include <gtest/gtest.h>

#include "buffer/test_ring.hpp"

namespace landtrace::buffer {
namespace {

class RingCursorTest : public ::testing::Test {
 protected:
  RingCursor cursor_of(const TestRing& ring, std::uint64_t started = 0) {
    return {ring.data(), ring.geometry(), 0, arch::RawClock::kMonotonic, started};
  }
  // Takes what is there; checks that numbers only skip what is said to be lost.
  void take_all(RingCursor& cursor) {
    cursor.allow_reads(1000);
    while (cursor.ready()) {
      next_ += static_cast<std::uint32_t>(cursor.take_lost());
      ASSERT_EQ(number_of(cursor.record()), next_);
      ++next_;
      cursor.pop();
    }
  }
  std::uint32_t next_ = 0;
};

TEST_F(RingCursorTest, RecordsComeInOrder) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  take_all(cursor);
  for (std::uint32_t i = 0; i < 100; ++i) ring.write(i);
  take_all(cursor);
  for (std::uint32_t i = 100; i < 200; ++i) ring.write(i);
  take_all(cursor);
  EXPECT_EQ(next_, 200u);
  EXPECT_EQ(cursor.take_rest(), 0u);
}

TEST_F(RingCursorTest, NoMoreReadsThanAllowed) {
  TestRing ring;
  ring.write(0);
  RingCursor cursor = cursor_of(ring);
  cursor.allow_reads(0);
  EXPECT_FALSE(cursor.ready());
  cursor.allow_reads(1);
  EXPECT_TRUE(cursor.ready());
  EXPECT_TRUE(cursor.out_of_reads());
}

TEST_F(RingCursorTest, DiscardedEventsAreMissingWhereTheRingWasFull) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  std::uint32_t number = 0;
  while (ring.write(number)) ++number;
  for (int i = 0; i < 9; ++i) ring.write(number);
  const std::uint32_t gap_at = number;
  number += 10;
  take_all(cursor);
  EXPECT_EQ(next_, gap_at);
  ring.consume_up_to(cursor.position());
  for (int i = 0; i < 5; ++i) ring.write(number++);
  take_all(cursor);
  EXPECT_EQ(next_, number);
  EXPECT_EQ(cursor.discarded(), 10u);
}

TEST_F(RingCursorTest, GapInTheMiddleOfABatchSplitsIt) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  std::uint32_t number = 0;
  while (ring.write(number, 16384)) ++number;
  cursor.allow_reads(1);
  ASSERT_TRUE(cursor.ready());  // has seen the discarded one, and a batch from before it
  ring.consume_up_to(cursor.position());
  ++number;
  for (int i = 0; i < 3; ++i) ring.write(number++);
  take_all(cursor);
  EXPECT_EQ(next_, number);
}

// The reader is held up: it makes room, and looks again only when the ring is full once more.
TEST_F(RingCursorTest, WhatWasDiscardedBeforeThereWasRoomIsMissingThere) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  std::uint32_t number = 0;
  for (int turn = 0; turn < 5; ++turn) {
    while (ring.write(number)) ++number;
    ++number;
    take_all(cursor);
    // What the cursor has not noticed yet.
    for (int i = 0; i < 7; ++i) EXPECT_FALSE(ring.write(number++));
    const std::uint64_t room = cursor.give_back(cursor.position());
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(ring.write(number++));
    ring.consume_up_to(room);
  }
  while (ring.write(number)) ++number;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ring.write(++number));
  take_all(cursor);
  EXPECT_EQ(cursor.take_rest(), 4u);
  EXPECT_EQ(cursor.discarded(), 5u * 13 + 4);
}

TEST_F(RingCursorTest, FillersDoNotMoveWhereDiscardedEventsAreMissing) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  std::uint32_t number = 0;
  for (int turn = 0; turn < 20; ++turn) {
    while (ring.write(number, 5000)) ++number;
    ++number;
    const std::uint64_t room = cursor.give_back(cursor.position());
    EXPECT_FALSE(ring.write(number++, 5000));
    ring.consume_up_to(room);
    while (ring.write(number, 5000)) ++number;
    ++number;
    take_all(cursor);
  }
  EXPECT_EQ(next_ + cursor.take_rest(), number);
}

TEST_F(RingCursorTest, RoomIsGivenBackInPartsOfABatch) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  std::uint32_t number = 0;
  while (ring.write(number, 4096)) ++number;
  ++number;
  for (int turn = 0; turn < 200; ++turn) {
    cursor.allow_reads(1);
    ASSERT_TRUE(cursor.ready());
    next_ += static_cast<std::uint32_t>(cursor.take_lost());
    ASSERT_EQ(number_of(cursor.record()), next_++);
    cursor.pop();
    const std::uint64_t room = cursor.give_back(cursor.place().live.position);
    for (int i = 0; i < turn % 3; ++i) EXPECT_FALSE(ring.write(number++, 4096));
    ring.consume_up_to(room);
    EXPECT_TRUE(ring.write(number++, 4096));
    for (int i = 0; i < turn % 4; ++i) EXPECT_FALSE(ring.write(number++, 4096));
  }
  take_all(cursor);
  EXPECT_EQ(next_ + cursor.take_rest(), number);
}

// A cursor that goes on where another one has made room.
TEST_F(RingCursorTest, TurnsGoOnWithAnotherCursor) {
  TestRing ring;
  std::uint32_t number = 0;
  RingCursor first = cursor_of(ring);
  while (ring.write(number)) ++number;
  ++number;
  take_all(first);
  const std::uint64_t room = first.give_back(first.position());
  ring.consume_up_to(room);
  next_ += static_cast<std::uint32_t>(first.take_rest());
  RingCursor second(ring.data(), ring.geometry(), 0, arch::RawClock::kMonotonic, 0,
                    {first.place(), {~0ull, ~0ull}, {{1, 0}}, nullptr, room});
  while (ring.write(number)) ++number;
  ++number;
  EXPECT_FALSE(ring.write(number++));
  const std::uint64_t more_room = second.give_back(second.position() + 64);
  EXPECT_FALSE(ring.write(number++));
  ring.consume_up_to(more_room);
  EXPECT_TRUE(ring.write(number++));
  take_all(second);
  EXPECT_EQ(next_, number);
  EXPECT_EQ(second.discarded(), 3u);
}

TEST_F(RingCursorTest, WhatIsMissingAtTheEndIsTold) {
  TestRing ring;
  RingCursor cursor = cursor_of(ring);
  std::uint32_t number = 0;
  while (ring.write(number)) ++number;
  take_all(cursor);
  EXPECT_EQ(cursor.take_rest(), 1u);
  EXPECT_EQ(cursor.take_rest(), 0u);
}

TEST_F(RingCursorTest, OverwrittenEventsAreCounted) {
  TestRing ring(true);
  RingCursor cursor = cursor_of(ring);
  for (std::uint32_t i = 0; i < 50'000; ++i) ring.write(i);
  take_all(cursor);
  EXPECT_EQ(next_, 50'000u);
  EXPECT_GT(cursor.overwritten(), 40'000u);
}

TEST_F(RingCursorTest, CursorOnALappedRingCountsToo) {
  TestRing ring(true);
  for (std::uint32_t i = 0; i < 50'000; ++i) ring.write(i);
  RingCursor cursor = cursor_of(ring);
  take_all(cursor);
  EXPECT_EQ(next_, 50'000u);
}

TEST_F(RingCursorTest, TimesThatCannotBeAreBounded) {
  TestRing ring;
  const std::uint64_t started = arch::monotonic_ns();
  ring.write_at(0, 0);  // before the session
  ring.write_at(started + 10, 1);
  ring.write_at(started + 5, 2);  // backwards
  ring.write_at(~0ull, 3);        // in the future
  ring.write(4);
  RingCursor cursor = cursor_of(ring, started);
  cursor.allow_reads(10);
  std::vector<std::uint64_t> times;
  for (; cursor.ready(); cursor.pop()) times.push_back(cursor.clock());
  ASSERT_EQ(times.size(), 5u);
  EXPECT_EQ(times[0], started);
  EXPECT_EQ(times[1], started + 10);
  EXPECT_EQ(times[2], started + 10);
  EXPECT_LE(times[3], arch::monotonic_ns());
  EXPECT_EQ(times[4], times[3]);
}

TEST_F(RingCursorTest, ImplausibleCountsAreNotBelieved) {
  TestRing ring;
  ring.write(0);
  ring.words().discarded = ~0ull;
  RingCursor cursor = cursor_of(ring);
  take_all(cursor);
  EXPECT_EQ(cursor.discarded(), 0u);
  EXPECT_EQ(cursor.corrupt(), 1u);
  EXPECT_EQ(cursor.take_rest(), 0u);
}

TEST_F(RingCursorTest, GapsThatNobodyComesToDoNotGrowInNumber) {
  TestRing ring;
  ring.write(0);
  RingCursor cursor = cursor_of(ring);
  take_all(cursor);
  constexpr std::uint64_t kReads = 5000;
  for (std::uint64_t i = 1; i <= kReads; ++i) {
    ring.words().commit.count = 1'000'000 + i;
    ring.words().discarded = i;
    cursor.allow_reads(1);
    std::ignore = cursor.ready();
  }
  EXPECT_LE(cursor.gaps(), 1024u);
  EXPECT_EQ(cursor.discarded(), kReads) << "what is missing is counted all the same";
}

TEST_F(RingCursorTest, CursorBeginsWhereAnotherIsAndEndsWhereToldTo) {
  TestRing ring;
  for (std::uint32_t i = 0; i < 10; ++i) ring.write(i);
  RingCursor first = cursor_of(ring);
  first.allow_reads(10);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(first.ready());
    first.pop();
  }
  EXPECT_EQ(first.taken(), 4u);
  EXPECT_EQ(first.pending(), 6u);
  const Place place = first.place();
  EXPECT_EQ(place.live.count, 4u);
  const ring::Mark end = ring.words().commit;
  for (std::uint32_t i = 10; i < 20; ++i) ring.write(i);
  RingCursor second(ring.data(), ring.geometry(), 0, arch::RawClock::kMonotonic, 0, {place, end, {}, nullptr});
  next_ = 4;
  take_all(second);
  EXPECT_EQ(next_, 10u);
  EXPECT_EQ(second.taken(), 6u);
  EXPECT_EQ(second.place().live.position, end.position);
}

TEST_F(RingCursorTest, CursorThatIsLappedBeforeItsEndCountsUpToThere) {
  TestRing ring(true);
  for (std::uint32_t i = 0; i < 100; ++i) ring.write(i);
  const ring::Mark end = ring.words().commit;
  RingCursor cursor(ring.data(), ring.geometry(), 0, arch::RawClock::kMonotonic, 0, {{}, end, {}, nullptr});
  for (std::uint32_t i = 100; i < 50'000; ++i) ring.write(i);
  cursor.allow_reads(10);
  EXPECT_FALSE(cursor.ready());
  EXPECT_EQ(cursor.take_lost(), 100u);
}

TEST_F(RingCursorTest, FrozenRecordsComeFirst) {
  TestRing old;
  for (std::uint32_t i = 0; i < 5; ++i) old.write(i);
  RingCursor source = cursor_of(old);
  source.allow_reads(1);
  auto frozen = std::make_shared<Frozen>();
  for (; source.ready(); source.pop()) frozen->append(source.record(), source.clock());
  EXPECT_EQ(frozen->finish(4 * 64), 1u);  // the oldest has to go
  EXPECT_EQ(frozen->first_within(2 * 64), 2u);
  EXPECT_EQ(frozen->bytes_from(2), 2u * 64);

  TestRing ring;
  for (std::uint32_t i = 5; i < 8; ++i) ring.write(i);
  RingCursor cursor(ring.data(), ring.geometry(), 0, arch::RawClock::kMonotonic, 0,
                    {{1, {}}, {~0ull, ~0ull}, {}, frozen});
  EXPECT_EQ(cursor.place().frozen, 1u);
  next_ = 2;
  take_all(cursor);
  EXPECT_EQ(next_, 8u);
  EXPECT_EQ(cursor.taken(), 6u);
  EXPECT_EQ(cursor.place().frozen, 4u);
}

}  // namespace
}  // namespace landtrace::buffer
