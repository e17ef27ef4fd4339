// Records of a kernel's event that stand for another's.
#include "perf/tracker.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace landtrace::perf {
namespace {

struct Record {
  explicit Record(std::uint32_t type) : header{type, 0, sizeof(Record)} {}
  perf_event_header header;
  std::uint64_t words[6] = {1, 2, 3, 4, 5, 6};
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(this, 1)); }
};

TEST(RenumberTest, TheIdsBehindARecordAreTheOthers) {
  Record all(PERF_RECORD_COMM);
  renumber(all.bytes(), {PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                             PERF_SAMPLE_IDENTIFIER,
                         99});
  const std::uint64_t wanted[] = {1, 2, 99, 99, 5, 99};
  EXPECT_EQ(std::memcmp(all.words, wanted, sizeof wanted), 0);

  Record some(PERF_RECORD_COMM);
  renumber(some.bytes(), {PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 99});
  const std::uint64_t wanted_of_some[] = {1, 2, 3, 4, 99, 6};
  EXPECT_EQ(std::memcmp(some.words, wanted_of_some, sizeof wanted_of_some), 0);
}

TEST(RenumberTest, ARecordOfLossNamesItsEventFirst) {
  Record lost(PERF_RECORD_LOST);
  renumber(lost.bytes(), {0, 99});
  EXPECT_EQ(lost.words[0], 99u);
  EXPECT_EQ(lost.words[5], 6u);
}

TEST(RenumberTest, ARecordThatIsTooShortIsNotLeft) {
  perf_event_header header{PERF_RECORD_COMM, 0, sizeof header};
  renumber(std::as_writable_bytes(std::span(&header, 1)), {PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID, ~0ull});
  EXPECT_EQ(header.type, std::uint32_t{PERF_RECORD_COMM});
  EXPECT_EQ(header.size, sizeof header);
}

TEST(TimeOfTest, IsWhereTheTrailerHasIt) {
  constexpr std::uint64_t kAll = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  Record record(PERF_RECORD_COMM);
  EXPECT_EQ(time_of(record.bytes(), kAll), 2u);
  EXPECT_EQ(time_of(record.bytes(), PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR), 6u);
  EXPECT_EQ(time_of(record.bytes(), PERF_SAMPLE_TIME | PERF_SAMPLE_CPU), 5u);
  EXPECT_EQ(time_of(record.bytes(), kAll & ~PERF_SAMPLE_TIME), std::nullopt);
  EXPECT_EQ(time_of(record.bytes().first(sizeof(perf_event_header) + 4 * sizeof(std::uint64_t)), kAll), std::nullopt);
}

TEST(TrackerTest, IsThereOnlyWhereAnEventWantsMoreThanSamples) {
  perf_event_attr attr{};
  attr.sample_type = PERF_SAMPLE_TID;
  EXPECT_FALSE(Tracker(attr, 0, -1));
}

}  // namespace
}  // namespace landtrace::perf
