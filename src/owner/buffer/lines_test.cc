#include "buffer/lines.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "buffer/test_domain.hpp"

namespace landtrace::buffer {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LinesTest : public ::testing::Test {
 protected:
  std::string text(const TextStyle& style, Lines::Options options = {.look_ahead = true}) {
    printer_.prepare(true);
    Reading reading(contents_, kAllCpus);
    Lines lines(options);
    std::string out;
    while (lines.append_next(out, reading.merge, printer_, style)) {
    }
    Lines::append_rest(out, reading.merge);
    return out;
  }

  TestDomain domain_;
  std::shared_ptr<Contents> contents_ = domain_.contents();
  TraceClock clock_{domain_->clock_line()};
  Printer printer_{domain_->control(), domain_->users(), domain_->events(), clock_};
  TextStyle style_;
};

TEST_F(LinesTest, LineNamesTaskCpuAndTime) {
  domain_.write_many(kTid, 7, 8);
  EXPECT_THAT(text(style_),
              MatchesRegex(" +[^ ]+-[0-9]+ +\\[[0-9]+\\] \\.\\.\\.\\.\\. +[0-9]+\\.[0-9]+: job: number=0x7 \\(7\\)\n"));
}

TEST_F(LinesTest, TgidIsTheProcess) {
  domain_.write_many(kTid, 0, 1);
  style_.columns.tgid = true;
  EXPECT_THAT(text(style_), MatchesRegex(".*-[0-9]+ +\\( *" + std::to_string(::getpid()) + "\\) \\[.*\n"));
}

TEST_F(LinesTest, NamesAreLearntOnlyWithRecordCmd) {
  domain_.write_many(kTid, 0, 1);
  style_.learn_names = false;
  EXPECT_THAT(text(style_), HasSubstr("<...>-"));
  style_.learn_names = true;
  EXPECT_THAT(text(style_), Not(HasSubstr("<...>-")));
  style_.learn_names = false;
  EXPECT_THAT(text(style_), Not(HasSubstr("<...>-")));
}

TEST_F(LinesTest, OtherForms) {
  domain_.write_many(kTid, 0, 1);
  style_.body = TextStyle::Body::kRaw;
  EXPECT_THAT(text(style_), MatchesRegex("[0-9]+ [0-9]+ [0-9]+ type: 16384\n"));
  style_.body = TextStyle::Body::kHex;
  EXPECT_THAT(text(style_), MatchesRegex("[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ type: 16384\n\n"));
  style_.body = TextStyle::Body::kBin;
  EXPECT_EQ(text(style_).size(), 16 + std::string("type: 16384\n").size());
  style_.columns.context = false;
  EXPECT_EQ(text(style_), "type: 16384\n");
  style_.body = TextStyle::Body::kFields;
  EXPECT_EQ(text(style_), "job: number=0x0 (0)\n");
}

TEST_F(LinesTest, LatencyFormatTellsTheDelayToTheNextEvent) {
  domain_.write_many(kTid, 0, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  domain_.write_many(kTid, 1, 2);
  style_.columns.latency = true;
  EXPECT_THAT(text(style_), MatchesRegex(" *[^ ]+-[0-9]+ +[0-9]+\\.\\.\\.\\.\\. +[0-9]+us[#*@$]: job: number=0x0 .*\n"
                                         " *[^ ]+-[0-9]+ +[0-9]+\\.\\.\\.\\.\\. +[0-9]+us : job: number=0x1 .*\n"));
  style_.columns.verbose = true;
  EXPECT_THAT(text(style_),
              MatchesRegex(".* 0 00000000 00000000 \\[[0-9a-f]+\\] [0-9]+\\.[0-9]+ms \\(\\+[0-9.]+ms\\): job: .*\n"
                           ".* 0 00000000 00000001 \\[[0-9a-f]+\\] [0-9]+\\.[0-9]+ms \\(\\+0\\.000ms\\): job: .*\n"));
}

TEST_F(LinesTest, WhatWasLostStandsWhereItIsMissing) {
  printer_.prepare(true);
  domain_.write_many(kTid, 0, 100'000, 24);
  const std::uint64_t lost = contents_->counts(kAllCpus).overrun;
  Merge merge;
  contents_->consume(kAllCpus, merge);
  Lines lines({});
  std::string out;
  std::uint64_t told = 0;
  while (lines.append_next(out, merge, printer_, style_)) {
    unsigned cpu = 0;
    unsigned long long count = 0;
    if (std::sscanf(out.c_str(), "CPU:%u [LOST %llu EVENTS]\n", &cpu, &count) == 2) told += count;
    out.clear();
  }
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(told, lost);
}

TEST_F(LinesTest, ReaderThatIsLappedToTheEndSaysSo) {
  domain_.write_many(kTid, 0, 20'000, 24);  // more than one batch of a ring, so that the reader must come back
  printer_.prepare(true);
  Reading reading(contents_, kAllCpus);
  const std::uint64_t entries = contents_->counts(kAllCpus).entries;
  domain_.write_many(kTid, 20'000, 100'000, 24);
  Lines lines({});
  std::string out;
  std::uint64_t shown = 0;
  while (lines.append_next(out, reading.merge, printer_, style_)) ++shown;
  out.clear();
  std::uint64_t lost = 0;
  for (const Merge::Source& source : reading.merge.sources()) {
    if (source.cursor->has_lost()) ++lost;
  }
  Lines::append_rest(out, reading.merge);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(out.begin(), out.end(), '\n')), lost);
  EXPECT_LE(shown, entries);
}

TEST_F(LinesTest, BuffersThatWereOverrunSayWhereACpuBegins) {
  if (domain_->instances().first_claimed() < 2) GTEST_SKIP() << "SKIPPED: one CPU";
  cpu_set_t before;
  ::sched_getaffinity(0, sizeof before, &before);
  for (std::size_t cpu = 0; cpu < 2; ++cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) GTEST_SKIP() << "SKIPPED: may not run on both CPUs";
    domain_.write_many(kTid, 0, 1);
  }
  ::sched_setaffinity(0, sizeof before, &before);
  EXPECT_THAT(text(style_, {.annotate = true}), HasSubstr("\n##### CPU 1 buffer started ####\n"));
  EXPECT_THAT(text(style_, {.annotate = true}), Not(HasSubstr("CPU 0 buffer started")));
  EXPECT_THAT(text(style_), Not(HasSubstr("#####")));
}

TEST_F(LinesTest, RecordOfAnEventWhoseSlotIsAnothersByNowIsOfNoKnownType) {
  domain::Proxy proxy(*domain_);
  const std::uint32_t slot = *domain_->registrar().register_native("brief u32 x", 0, ::getuid());
  const std::uint32_t x = 1;
  const ring::Segment segment{&x, sizeof x};
  ASSERT_TRUE(proxy.record(domain_->top(), slot, kTid, ::getuid(), {&segment, 1}));
  domain_->events().drop_reference(slot);
  style_.columns.context = false;
  EXPECT_EQ(text(style_), "brief: x=0x1 (1)\n");  // gone, but nobody else has its slot
  for (std::uint32_t i = 0; i < plan::kMaxEvents; ++i) {
    domain_->grace().drain(std::chrono::seconds(1));
    const std::uint32_t other =
        *domain_->registrar().register_native("other" + std::to_string(i) + " u64 y", 0, ::getuid());
    if (other == slot) break;
    domain_->events().drop_reference(other);
  }
  const auto id = static_cast<unsigned>(16384 + slot - plan::kFirstEventSlot);
  EXPECT_EQ(text(style_), "Unknown type " + std::to_string(id) + "\n");
  const std::uint64_t y = 2;
  const ring::Segment later{&y, sizeof y};
  ASSERT_TRUE(proxy.record(domain_->top(), slot, kTid, ::getuid(), {&later, 1}));
  EXPECT_THAT(text(style_), EndsWith(": y=0x2 (2)\n"));
}

}  // namespace
}  // namespace landtrace::buffer
