#include "cli/report_printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/text/own_events.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportPrinterTest : public testing::Test {
 protected:
  // Three events on two CPUs, one lost before the second, two behind the last of CPU 1.
  void SetUp() override {
    auto writer = output::TraceDatWriter::create(path_, {.cpus = 2, .clock = clock_});
    ASSERT_TRUE(writer);
    writer->add_event(output::number_type());
    writer->add_event(output::make_type(7, "other u32 n"));
    writer->set_task(100, {"app", 90});
    put(*writer, output::number_record(1'000'000'000, 0, 11));
    writer->lost(1, 1);
    put(*writer, output::number_record(2'000'000'000, 1, 22));
    constexpr std::uint32_t kOther = 33;
    output::Record other = output::number_record(3'000'000'000, 0, kOther);
    other.event_id = 7;
    put(*writer, other);
    writer->lost(1, 2);
    ASSERT_TRUE(writer->finish());
  }
  static void put(output::TraceDatWriter& writer, const output::Record& record) { ASSERT_TRUE(writer.append(record)); }

  void select(const Selection::Texts& texts) { options_.selection = *Selection::parse(texts); }

  std::string print() {
    auto reader = output::TraceDatReader::open(path_);
    EXPECT_TRUE(reader);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    status_ = ReportPrinter(options_, path_, *std::move(reader)).print();
    complaints_ = testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
  }

  output::TempDir dir_;
  std::string path_ = dir_.file("t.dat");
  std::string clock_ = "mono";
  ReportPrinter::Options options_;
  int status_ = -1;
  std::string complaints_;
};

TEST_F(ReportPrinterTest, EventsAreLinesUnderAHead) {
  const std::string text = print();
  EXPECT_EQ(status_, 0);
  EXPECT_EQ(complaints_, "");
  EXPECT_THAT(text, StartsWith("# tracer: nop\n"));
  EXPECT_THAT(text, HasSubstr("# entries-in-buffer/entries-written: 3/6   #P:2\n"));
  EXPECT_THAT(text, HasSubstr("     1.000000: number: n=0xb (11)\n"));
  EXPECT_THAT(text, HasSubstr(" app-100 "));
}

TEST_F(ReportPrinterTest, LostEventsStandWhereTheyAreMissing) {
  EXPECT_THAT(print(), HasSubstr("n=0xb (11)\nCPU:1 [LOST 1 EVENTS]\n"));
}

TEST_F(ReportPrinterTest, WhatWasLostBehindTheLastEventStandsAtTheEnd) {
  EXPECT_THAT(print(), testing::EndsWith("CPU:1 [LOST 2 EVENTS]\n"));
}

TEST_F(ReportPrinterTest, TheEndIsNotToldWhereItWasNotAskedFor) {
  select({.to = "5"});
  EXPECT_THAT(print(), Not(HasSubstr("LOST 2 EVENTS")));
  select({});
  options_.limit = 2;
  EXPECT_THAT(print(), Not(HasSubstr("LOST 2 EVENTS")));
}

TEST_F(ReportPrinterTest, OnlyWantedEventsArePrinted) {
  select({.events = {"other"}});
  const std::string text = print();
  EXPECT_THAT(text, HasSubstr("other: n=0x21 (33)"));
  EXPECT_THAT(text, Not(HasSubstr("number:")));
}

TEST_F(ReportPrinterTest, BothEndsOfTheTimeBelongToIt) {
  select({.from = "2", .to = "2"});
  const std::string text = print();
  EXPECT_THAT(text, HasSubstr("n=0x16 (22)"));
  EXPECT_THAT(text, Not(HasSubstr("n=0xb (11)")));
  EXPECT_THAT(text, Not(HasSubstr("n=0x21 (33)")));
}

TEST_F(ReportPrinterTest, NoMoreThanTheLimit) {
  options_.limit = 1;
  const std::string text = print();
  EXPECT_THAT(text, HasSubstr("n=0xb (11)"));
  EXPECT_THAT(text, Not(HasSubstr("n=0x16 (22)")));
}

TEST_F(ReportPrinterTest, TheLimitCountsWhatIsPrinted) {
  options_.limit = 1;
  select({.events = {"other"}});
  EXPECT_THAT(print(), HasSubstr("other: n=0x21 (33)"));
}

TEST_F(ReportPrinterTest, JsonHasNoHead) {
  options_.style.json = true;
  const std::string text = print();
  EXPECT_THAT(text, StartsWith("{"));
  EXPECT_THAT(text, HasSubstr(R"("fields":{"n":11})"));
  EXPECT_THAT(text, Not(HasSubstr("#")));
  EXPECT_THAT(text, HasSubstr("lost"));
}

TEST_F(ReportPrinterTest, DamageIsToldAndTheOtherCpusArePrinted) {
  std::string bytes = output::read_text(path_);
  // The page of the first CPU begins with its time stamp and the length of what is in it: make that no length.
  const std::uint64_t stamp = 1'000'000'000;
  const std::size_t page = bytes.find(std::string(reinterpret_cast<const char*>(&stamp), sizeof stamp));
  ASSERT_NE(page, std::string::npos);
  bytes.replace(page + 8, 4, "\xff\xff\xff\x07");
  output::write_text(path_, bytes);
  const std::string text = print();
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(complaints_, HasSubstr(path_));
  EXPECT_THAT(text, HasSubstr("n=0x16 (22)"));
}

class CountingClockTest : public ReportPrinterTest {
 protected:
  CountingClockTest() { clock_ = "x86-tsc"; }
};

TEST_F(CountingClockTest, TimesThatOnlyCountAreNoSeconds) { EXPECT_THAT(print(), HasSubstr(" 1000000000: number:")); }

class UnknownClockTest : public ReportPrinterTest {
 protected:
  UnknownClockTest() { clock_ = "ppc-tb"; }
};

TEST_F(UnknownClockTest, TimesOfAClockThatIsNotKnownAreTakenForNanoseconds) {
  EXPECT_THAT(print(), HasSubstr(" 1.000000: number:"));
}

TEST_F(ReportPrinterTest, AFilterIsForTheEventsThatHaveItsFields) {
  select({.filter = "n >= 22"});
  std::string text = print();
  EXPECT_EQ(status_, 0);
  EXPECT_THAT(text, Not(HasSubstr("number: n=0xb (11)")));
  EXPECT_THAT(text, HasSubstr("number: n=0x16 (22)"));
  EXPECT_THAT(text, HasSubstr("other: n=0x21 (33)"));
  select({.filter = "CPU == 1"});
  text = print();
  EXPECT_THAT(text, HasSubstr("(22)"));
  EXPECT_THAT(text, Not(HasSubstr("(33)")));
  select({.filter = "COMM == \"app\" && common_pid == 100"});
  EXPECT_THAT(print(), HasSubstr("(11)"));
}

TEST_F(ReportPrinterTest, AFilterThatFitsNoEventIsRefusedWithItsPlace) {
  select({.filter = "n > 1 && nosuch == 2"});
  EXPECT_EQ(print(), "");
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(complaints_, HasSubstr("Field not found"));
  EXPECT_THAT(complaints_, HasSubstr("n > 1 && nosuch == 2\n"));
}

TEST_F(ReportPrinterTest, ThreadsProcessesAndCpusAreChosen) {
  const auto events = [this](const Selection::Texts& texts) {
    select(texts);
    const std::string text = print();
    return std::count(text.begin(), text.end(), '(');
  };
  EXPECT_EQ(events({.pids = {"90"}}), 3);
  EXPECT_EQ(events({.pids = {"100"}}), 0);
  EXPECT_EQ(events({.tids = {"5", "100"}}), 3);
  EXPECT_EQ(events({.tids = {"90"}}), 0);
  EXPECT_EQ(events({.comms = {"a*"}}), 3);
  EXPECT_EQ(events({.comms = {"ap"}}), 0);
  EXPECT_EQ(events({.cpus = "1-5"}), 1);
  EXPECT_EQ(events({.cpus = "0"}), 2);
}

TEST_F(ReportPrinterTest, LossOfOtherCpusIsNotTold) {
  select({.cpus = "0"});
  EXPECT_THAT(print(), Not(HasSubstr("LOST")));
  select({.cpus = "1"});
  EXPECT_THAT(print(), HasSubstr("CPU:1 [LOST 2 EVENTS]"));
}

TEST_F(ReportPrinterTest, WhatCanBeNoSelectionIsSaid) {
  for (const Selection::Texts& texts :
       {Selection::Texts{.filter = "n >"}, Selection::Texts{.pids = {"x"}}, Selection::Texts{.tids = {"0"}},
        Selection::Texts{.cpus = "1-"}, Selection::Texts{.from = "x"}}) {
    EXPECT_FALSE(Selection::parse(texts));
  }
}

TEST_F(ReportPrinterTest, CountsAreByEventWithWhatWasLost) {
  options_.count_only = true;
  EXPECT_EQ(print(), "           2 user_events:number\n           1 user_events:other\n           3 lost\n");
  options_.style.json = true;
  EXPECT_EQ(print(),
            "{\"count\":2,\"event\":\"user_events:number\"}\n{\"count\":1,\"event\":\"user_events:other\"}\n"
            "{\"lost\":3}\n");
}

TEST_F(ReportPrinterTest, TimesAreSinceTheFirstOrTheOneBefore) {
  options_.style.is_relative = true;
  std::string text = print();
  EXPECT_THAT(text, HasSubstr("     0.000000: number: n=0xb (11)\n"));
  EXPECT_THAT(text, HasSubstr("     1.000000: number: n=0x16 (22)\n"));
  EXPECT_THAT(text, HasSubstr("     2.000000: other: "));
  options_.style.is_relative = false;
  options_.style.is_delta = true;
  text = print();
  EXPECT_THAT(text, HasSubstr("     0.000000: number: n=0xb (11)\n"));
  EXPECT_THAT(text, HasSubstr("     1.000000: other: "));
}

TEST_F(ReportPrinterTest, AStackGoesWithItsEventWhateverEventsAreWanted) {
  auto writer = output::TraceDatWriter::create(path_, {.cpus = 1});
  ASSERT_TRUE(writer);
  writer->add_event(output::number_type());
  writer->add_event(output::make_type(7, "other u32 n"));
  const output::EventType stack = output::user_stack_type();
  writer->add_event(stack);
  const std::uint64_t frames[] = {90, 0xabc0};
  for (std::uint64_t time = 10; time < 50; time += 20) {
    constexpr std::uint32_t kNumber = 11;
    output::Record record = output::number_record(time, 0, kNumber);
    record.event_id = time == 10 ? output::kNumberId : 7;
    put(*writer, record);
    put(*writer,
        {.time_ns = time + 1, .cpu = 0, .tid = 100, .event_id = stack.id, .payload = std::as_bytes(std::span(frames))});
  }
  ASSERT_TRUE(writer->finish());
  const auto stacks = [this](std::vector<std::string> events) {
    select({.events = std::move(events)});
    const std::string text = print();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("<user stack trace>", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(stacks({}), 2u);
  EXPECT_EQ(stacks({"number"}), 1u);
  EXPECT_EQ(stacks({"number", "other"}), 2u);
  EXPECT_EQ(stacks({"user_stack"}), 2u);
}

TEST_F(ReportPrinterTest, TimesOfDayNeedARecordingThatKnowsThem) {
  options_.style.is_utc = true;
  EXPECT_EQ(print(), "");
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(complaints_, HasSubstr("does not say what time of day"));
  for (const bool finishes : {false, true}) {
    auto writer = output::TraceDatWriter::create(path_, {.cpus = 1, .wall_offset_ns = 86'400'000'000'000});
    ASSERT_TRUE(writer);
    writer->add_event(output::number_type());
    put(*writer, output::number_record(1'000'000'000, 0, 11));
    ASSERT_TRUE(finishes ? writer->finish() : writer->publish(~0ull));
    EXPECT_THAT(print(), HasSubstr(" 1970-01-02T00:00:01.000000Z: number: n=0xb (11)\n"));
    if (!finishes) {
      ASSERT_TRUE(writer->finish());
    }
  }
}

TEST_F(ReportPrinterTest, AFieldThatNoEventHasIsRefused) {
  options_.style.fields = {"n"};
  EXPECT_THAT(print(), HasSubstr("n=0xb (11)"));
  options_.style.fields = {"n", "nn"};
  EXPECT_EQ(print(), "");
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(complaints_, HasSubstr("has a field 'nn'; did you mean n?"));
}

}  // namespace
}  // namespace landtrace::cli
