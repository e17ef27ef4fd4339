#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/histogram/test_table.hpp"
#include "cli/histogram/view.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(HistChartTest, HasALineForEachPowerOfTwo) {
  EXPECT_EQ(chart_text(kSpread, *make_view(kSpread, spread_by_route())),
            "done: 5 events\n"
            "route=/a: 4 events, mean 400 ns, p50 214 ns, p90 820 ns, p99 1.0 us, p99.9 1.0 us\n"
            "      129 ns .. 256 ns                3 ########################################\n"
            "      257 ns .. 512 ns                0 \n"
            "      513 ns .. 1.0 us                1 #############\n"
            "route=/b: 1 event, mean 8 ns, p50 6.5 ns, p90 7.7 ns, p99 8.0 ns, p99.9 8.0 ns\n"
            "        5 ns .. 8 ns                  1 ########################################\n"
            "2 events found no room in the table: a larger --size keeps more\n");
}

TEST(HistChartTest, EventsThatAreInNoPairAreSaidBelow) {
  HistView view;
  view.unpaired = Unpaired{.starts = 1000, .ends = 1, .lost = 2};
  EXPECT_EQ(chart_text(kSpread, view),
            "done: 0 events\nwithout an end: 1,000 events\nwithout a start: 1 event\nlost, the buffers being full: 2 "
            "events\n");
  view.unpaired = Unpaired();
  EXPECT_EQ(chart_text(kSpread, view), "done: 0 events\n");
}

SlowEvent slow_event() {
  return {.ns = 12'345'678,
          .host = "web-3",
          .time_ns = 1'700'000'000'123'456'000,
          .tid = 4711,
          .task = "ser\x1bvice",
          .fields = R"({"id":7,"route":"/lo\u001bgin"})",
          .stack = {"handle(request*) [service]", "main [service]"}};
}

TEST(HistChartTest, TheSlowestIsBelowThePercentiles) {
  HistView view = *make_view(kSpread, spread_by_route());
  view.groups[0].slowest = {slow_event(), slow_event()};
  EXPECT_THAT(chart_text(kSpread, view),
              HasSubstr("p99.9 1.0 us\n"
                        "  slowest: 12.3 ms on web-3 at 22:13:20.123456 UTC, ser\\x1bvice-4711: id=7 "
                        "route=/lo\\x1bgin\n"
                        "    => handle(request*) [service]\n"
                        "    => main [service]\n"
                        "      129 ns"));
  view.groups[0].slowest[0].fields = "no object\n";
  EXPECT_THAT(chart_text(kSpread, view), HasSubstr("-4711: no object\\n\n    =>"));
}

TEST(HistChartTest, WithoutASpreadARowIsALine) {
  const HistShape shape{"done", {"id"}, {"bytes"}, {}, false};
  HistView view;
  view.groups = {{{"12"}, 3, {120}, {}}, {{"3"}, 1, {10}, {}}};
  view.hits = 4;
  EXPECT_EQ(chart_text(shape, view),
            "done: 4 events\n"
            "id=12            3  75.0%  bytes 120 (mean 40.0) ########################################\n"
            "id=3             1  25.0%  bytes 10 (mean 10.0) #############\n");
}

TEST(HistChartTest, ASpreadOfPlainNumbersHasNoUnits) {
  const HistShape shape{"done", {}, {}, "bytes", false};
  HistView view;
  view.hits = 2;
  view.groups.resize(1);
  view.groups[0].count = 2;
  view.groups[0].spread.add(11, 2, 3001);
  const std::string text = chart_text(shape, view);
  EXPECT_THAT(text, HasSubstr("2 events, mean 1500.5, p50 1536.5,"));
  EXPECT_THAT(text, HasSubstr("        1025 .. 2048                  2 "));
  view.groups[0].spread.add(21, 1, 2'000'000);
  EXPECT_THAT(chart_text(shape, view), HasSubstr("1,048,577 .. 2,097,152 ")) << "long numbers have commas";
}

TEST(HistChartTest, ANarrowTerminalHasShorterNamesAndBars) {
  const HistShape shape{"done", {"route"}, {}, {}, false};
  HistView view;
  view.groups = {{{"/a/long/way/to/go"}, 1500, {}, {}}, {{"/b"}, 500, {}, {}}};
  view.hits = 2000;
  EXPECT_EQ(chart_text(shape, view, 50),
            "done: 2,000 events\n"
            "route=/a/long/way/to/go 1,500  75.0% #############\n"
            "route=/b                  500  25.0% ####\n");
  EXPECT_EQ(chart_text(shape, view, 30),
            "done: 2,000 events\n"
            "route=/a/long/wa… 1,500  75.0% \n"
            "route=/b            500  25.0% \n");
}

TEST(HistChartTest, ANarrowTerminalHasNarrowBuckets) {
  EXPECT_EQ(chart_text(kSpread, *make_view(kSpread, spread_by_route()), 40),
            "done: 5 events\n"
            "route=/a: 4 events, mean 400 ns, p50 214\n"
            "  ns, p90 820 ns, p99 1.0 us, p99.9 1.0\n"
            "  us\n"
            "    129 ns .. 256 ns   3 ###############\n"
            "    257 ns .. 512 ns   0 \n"
            "    513 ns .. 1.0 us   1 #####\n"
            "route=/b: 1 event, mean 8 ns, p50 6.5\n"
            "  ns, p90 7.7 ns, p99 8.0 ns, p99.9 8.0\n"
            "  ns\n"
            "      5 ns .. 8 ns     1 ###############\n"
            "2 events found no room in the table: a larger --size keeps more\n");
}

TEST(HistChartTest, SumsStandBehindASpread) {
  const HistShape shape{"done", {"k"}, {"bytes"}, "took_ns", true};
  HistView view;
  view.hits = 1;
  view.groups.resize(1);
  view.groups[0] = {{"x"}, 1, {4096}, {}};
  view.groups[0].spread.add(3, 1, 8);
  EXPECT_THAT(chart_text(shape, view), HasSubstr("p99.9 8.0 ns, bytes 4,096\n"));
}

TEST(HistChartTest, SumsHaveTheirSign) {
  HistView view;
  view.groups = {{{"x"}, 2, {static_cast<std::uint64_t>(-3000), 255, ~0ull}, {}}};
  view.hits = 2;
  view.sum_types = {{"a", false, true}, {"b", true}};
  EXPECT_THAT(chart_text({"t", {"k"}, {"a", "b", "c"}, {}, false}, view),
              HasSubstr("a -3,000 (mean -1500.0)  b ff (mean 127.5)  c 18,446,744,073,709,551,615 (mean"));
}

TEST(HistChartTest, NegativeValuesAreSaidToBeInTheFirstLine) {
  const HistShape shape{"done", {}, {}, "change", false};
  HistView view;
  view.hits = 2;
  view.groups.resize(1);
  view.groups[0].count = 2;
  view.groups[0].spread.add(0, 2, static_cast<std::uint64_t>(-30));
  view.groups[0].spread.may_be_negative(32);
  EXPECT_EQ(chart_text(shape, view),
            "done: 2 events\n2 events, mean -15, p50 -15, p90 -15, p99 -15, p99.9 -15\n"
            "    negative .. 1                     2 " +
                std::string(40, '#') + "\n");
}

TEST(HistChartTest, OneEventIsNoEvents) {
  HistView view;
  view.hits = 1;
  EXPECT_THAT(chart_text({"done", {"k"}, {}, {}, false}, view), HasSubstr("done: 1 event\n"));
}

TEST(HistChartTest, ALongTailIsCountedInsteadOfShown) {
  HistView view;
  for (int i = 0; i < 50; ++i) view.groups.push_back({{std::to_string(i)}, 1, {}, {}});
  view.hits = 50;
  const std::string text = chart_text({"done", {"k"}, {}, {}, false}, view);
  EXPECT_THAT(text, HasSubstr("k=39 "));
  EXPECT_THAT(text, Not(HasSubstr("k=40 ")));
  EXPECT_THAT(text, HasSubstr("\nand 10 more\n"));
  EXPECT_EQ(lines_of(text), 42u) << text;
}

TEST(HistChartTest, ABarIsSeenForTheLeastOfThem) {
  HistView view;
  view.groups = {{{"many"}, 100000, {}, {}}, {{"one"}, 1, {}, {}}};
  view.hits = 100001;
  EXPECT_THAT(chart_text({"t", {"k"}, {}, {}, false}, view), HasSubstr("0.0% #\n"));
}

TEST(HistChartTest, TimesHaveUnits) {
  EXPECT_EQ(duration_text(7), "7 ns");
  EXPECT_EQ(duration_text(7.25), "7.2 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1000), "1 us");
  EXPECT_EQ(duration_text(1234), "1.2 us");
  EXPECT_EQ(duration_text(123456), "123 us");
  EXPECT_EQ(duration_text(5e6), "5 ms");
  EXPECT_EQ(duration_text(72.5e9), "72.5 s");
  EXPECT_EQ(duration_text(7200e9), "7200 s") << "there is no unit above";
}

}  // namespace
}  // namespace landtrace::cli
