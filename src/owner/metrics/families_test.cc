#include "metrics/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace landtrace::metrics {
namespace {

using ipc::KeyKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Labels = std::vector<Label>;

const Family* find(const std::vector<Family>& families, const std::string& name) {
  const auto found =
      std::find_if(families.begin(), families.end(), [&](const Family& family) { return family.name == name; });
  return found == families.end() ? nullptr : &*found;
}

// The family of that name, of which there is one.
Family the(const Figures& figures, const std::string& name) {
  const std::vector<Family> families = families_of(figures);
  const Family* const found = find(families, name);
  if (found == nullptr) {
    ADD_FAILURE() << "no " << name;
    return {};
  }
  return *found;
}

// Requests by their route, with the time they took in powers of two, which is added up, too.
ipc::HistogramTable requests(const std::string& trigger) {
  ipc::HistogramTable table;
  table.trigger = trigger;
  table.keys = {{KeyKind::kText, "route"}, {KeyKind::kLog2, "took.log2"}};
  table.values = {{"took"}, {"bytes"}};
  table.rows = {{{{0, "/b", {}}, {4, "", {}}}, 1, {15, 100}},
                {{{0, "/a", {}}, {3, "", {}}}, 2, {13, 20}},
                {{{0, "/a", {}}, {0, "", {}}}, 3, {2, 10}}};
  return table;
}

Figures with(ipc::HistogramTable table, const std::string& instance = "") {
  Figures figures;
  figures.histograms.push_back({instance, "user_events:done", std::move(table)});
  return figures;
}

TEST(FamiliesTest, RingsAreCountersByInstanceAndCpu) {
  Figures figures;
  output::CpuStats stats;
  stats.entries = 1;
  stats.overrun = 20;
  stats.read = 300;
  stats.dropped = 4;
  stats.commit_overrun = 50;
  figures.rings.push_back({"box", 3, stats});
  const Family recorded = the(figures, "landtrace_recorded_events");
  EXPECT_EQ(recorded.kind, Family::Kind::kCounter);
  ASSERT_THAT(recorded.series, SizeIs(1));
  EXPECT_EQ(recorded.series[0].value, Number(std::uint64_t{321}));
  EXPECT_EQ(recorded.series[0].labels, (Labels{{"trace_instance", "box"}, {"cpu", "3"}}));
  EXPECT_EQ(the(figures, "landtrace_overwritten_events").series[0].value, Number(std::uint64_t{20}));
  EXPECT_EQ(the(figures, "landtrace_dropped_events").series[0].value, Number(std::uint64_t{54}));
}

TEST(FamiliesTest, TheDomainItself) {
  Figures figures;
  figures.events = 5;
  figures.enabled = 2;
  figures.users = 1;
  EXPECT_EQ(the(figures, "landtrace_events_registered").series[0].value, Number(std::uint64_t{5}));
  EXPECT_EQ(the(figures, "landtrace_events_enabled").series[0].value, Number(std::uint64_t{2}));
  EXPECT_EQ(the(figures, "landtrace_users").series[0].value, Number(std::uint64_t{1}));
  EXPECT_EQ(find(families_of(figures), "landtrace_probe_hits"), nullptr);
  EXPECT_EQ(find(families_of(figures), "landtrace_events"), nullptr);
  figures.counted = {{"user_events:e", 9}, {"user_events:f", 0}};
  const Family counted = the(figures, "landtrace_events");
  EXPECT_EQ(counted.kind, Family::Kind::kCounter);
  ASSERT_THAT(counted.series, SizeIs(2));
  EXPECT_EQ(counted.series[0].labels, (Labels{{"event", "user_events:e"}}));
  EXPECT_EQ(counted.series[0].value, Number(std::uint64_t{9}));
  EXPECT_EQ(counted.series[1].value, Number(std::uint64_t{0}));
  figures.probes.push_back({"g/e", 7});
  EXPECT_EQ(the(figures, "landtrace_probe_hits").series[0].value, Number(std::uint64_t{7}));
}

TEST(FamiliesTest, AKeyInBucketsMakesAHistogramAndTheOthersAreLabels) {
  const Family family =
      the(with(requests("hist:name=request_time:keys=route,took.log2 [active]")), "landtrace_request_time");
  EXPECT_EQ(family.kind, Family::Kind::kHistogram);
  EXPECT_EQ(family.help, "Counted by hist:name=request_time:keys=route,took.log2");
  ASSERT_THAT(family.series, SizeIs(2));
  const Series& a = family.series[1];
  EXPECT_EQ(a.labels, (Labels{{"route", "/a"}}));
  EXPECT_THAT(a.buckets, ElementsAre(Bucket{1, 3}, Bucket{8, 2}));
  EXPECT_EQ(a.sum, Number(std::uint64_t{15}));
  EXPECT_EQ(a.value, Number(std::uint64_t{5}));
  EXPECT_THAT(family.series[0].buckets, ElementsAre(Bucket{16, 1}));
}

TEST(FamiliesTest, WhatElseIsAddedUpIsACounterOfItsOwn) {
  const Figures figures =
      with(requests("hist:keys=route,took.log2:vals=took,bytes:name=request_time if took > 3 [paused]"));
  const Family bytes = the(figures, "landtrace_request_time_bytes");
  EXPECT_EQ(bytes.kind, Family::Kind::kCounter);
  ASSERT_THAT(bytes.series, SizeIs(2));
  EXPECT_EQ(bytes.series[1].value, Number(std::uint64_t{30}));
  EXPECT_EQ(bytes.series[1].labels, (Labels{{"route", "/a"}}));
  EXPECT_EQ(find(families_of(figures), "landtrace_request_time_took"), nullptr) << "the histogram's sum";
}

TEST(FamiliesTest, ThoseWithoutANameAreToldApartByLabels) {
  const Figures figures = with(requests("hist:keys=route,took.log2:vals=took,bytes if took > 3 [active]"), "box");
  const Family family = the(figures, "landtrace_histogram");
  EXPECT_EQ(family.series[0].labels, (Labels{{"event", "user_events:done"},
                                             {"trace_instance", "box"},
                                             {"filter", "took > 3"},
                                             {"route", "/b"},
                                             {"of", "took"}}));
  EXPECT_EQ(the(figures, "landtrace_histogram_sum").series[0].labels.back(), (Label{"value", "bytes"}));
}

TEST(FamiliesTest, WithoutBucketsItIsACounterByItsKeys) {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=status [active]";
  table.keys = {{KeyKind::kSigned, "status"}};
  table.rows = {{{{static_cast<std::uint64_t>(-5), "", {}}}, 9, {}}};
  const Family family = the(with(table), "landtrace_hits");
  EXPECT_EQ(family.kind, Family::Kind::kCounter);
  EXPECT_EQ(family.series[0].labels.back(), (Label{"status", "-5"}));
  EXPECT_EQ(family.series[0].value, Number(std::uint64_t{9}));
}

TEST(FamiliesTest, RangesReachToTheirLastNumber) {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=size.buckets=100 [active]";
  table.keys = {{KeyKind::kRange, "size.buckets=100", 100}};
  table.rows = {{{{200, "", {}}}, 1, {}}, {{{0, "", {}}}, 2, {}}};
  EXPECT_THAT(the(with(table), "landtrace_histogram").series[0].buckets, ElementsAre(Bucket{99, 2}, Bucket{299, 1}));
}

TEST(FamiliesTest, StepsReachToTheirLastNumber) {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=size.log2=32 [active]";
  table.keys = {{KeyKind::kSteps, "size.log2=32", 32}};
  table.rows = {{{{1024, "", {}}}, 1, {}}, {{{63, "", {}}}, 2, {}}};
  EXPECT_THAT(the(with(table), "landtrace_histogram").series[0].buckets, ElementsAre(Bucket{63, 2}, Bucket{1055, 1}));
}

TEST(FamiliesTest, SumsThatMayFallAreGauges) {
  ipc::HistogramTable table;
  table.trigger = "hist:name=n:keys=status:vals=change [active]";
  table.keys = {{KeyKind::kUnsigned, "status"}};
  table.values = {{"change", false, true, false}, {"largest", false, false, true}};
  table.rows = {{{{1, "", {}}}, 2, {static_cast<std::uint64_t>(-7), 40}}};
  const Figures figures = with(table);
  EXPECT_EQ(the(figures, "landtrace_n_change").kind, Family::Kind::kGauge);
  EXPECT_EQ(the(figures, "landtrace_n_change").series[0].value, Number(std::int64_t{-7}));
  EXPECT_EQ(the(figures, "landtrace_n_largest").kind, Family::Kind::kGauge);
  EXPECT_EQ(the(figures, "landtrace_n_largest").series[0].value, Number(std::uint64_t{40}));
}

TEST(FamiliesTest, OfWhatIsKeptTheLargestOfABucketedGroup) {
  ipc::HistogramTable table;
  table.trigger = "hist:name=n:keys=took.log2 [active]";
  table.keys = {{KeyKind::kLog2, "took.log2"}};
  table.values = {{"largest", false, false, true}};
  table.rows = {{{{1, "", {}}}, 1, {3}}, {{{2, "", {}}}, 1, {9}}, {{{3, "", {}}}, 1, {4}}};
  EXPECT_EQ(the(with(table), "landtrace_n_largest").series[0].value, Number(std::uint64_t{9}));
}

TEST(FamiliesTest, NamesThatMeanSomethingElseAreChanged) {
  ipc::HistogramTable table;
  table.trigger = "hist:name=my-name:keys=le,job,9lives,a.hex,_b [active]";
  for (const char* const name : {"le", "job", "9lives", "a.hex", "_b"})
    table.keys.push_back({KeyKind::kUnsigned, name});
  table.rows = {{{{1, "", {}}, {2, "", {}}, {3, "", {}}, {4, "", {}}, {5, "", {}}}, 1, {}}};
  const Family family = the(with(table), "landtrace_my_name");
  std::vector<std::string> names;
  for (const Label& label : family.series[0].labels) names.push_back(label.name);
  EXPECT_THAT(names, ElementsAre("key_le", "key_job", "key_9lives", "a", "key__b"));
}

TEST(FamiliesTest, EachFamilyHasANameOfItsOwn) {
  Figures figures;
  figures.counted = {{"user_events:e", 9}};
  const auto add = [&](const std::string& name, const char* event) {
    ipc::HistogramTable table;
    table.trigger = "hist:name=" + name + ":keys=status:vals=users [active]";
    table.keys = {{KeyKind::kUnsigned, "status"}};
    table.values = {{"users"}};
    table.rows = {{{{1, "", {}}}, 2, {3}}};
    figures.histograms.push_back({"", event, std::move(table)});
  };
  for (const char* const name :
       {"my-name", "my_name", "my.name", "events", "users", "events_total", "histogram", "my"}) {
    add(name, "user_events:e");
  }
  figures.histograms.push_back(
      {"", "user_events:e", requests("hist:name=my_name_users:keys=route,took.log2 [active]")});
  figures.histograms.push_back(
      {"", "user_events:e", requests("hist:name=dropped_events:keys=route,took.log2 [active]")});
  std::vector<std::string> names;
  for (const Family& family : families_of(figures)) names.push_back(family.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end())
      << *std::adjacent_find(names.begin(), names.end());
  EXPECT_EQ(the(figures, "landtrace_events").series[0].value, Number(std::uint64_t{9}));
  EXPECT_EQ(the(figures, "landtrace_users").kind, Family::Kind::kGauge);
  for (const char* const name :
       {"landtrace_my_name", "landtrace_my_name_hits", "landtrace_my_name_hits_2", "landtrace_events_hits",
        "landtrace_users_hits", "landtrace_events_total_hits", "landtrace_histogram_hits",
        "landtrace_my_name_users_value", "landtrace_dropped_events_distribution"}) {
    EXPECT_THAT(names, testing::Contains(name));
  }
  // Which has which name does not depend on their order.
  EXPECT_THAT(the(figures, "landtrace_my_name").help, testing::HasSubstr("name=my_name:"));
  std::reverse(figures.histograms.begin(), figures.histograms.end());
  EXPECT_THAT(the(figures, "landtrace_my_name").help, testing::HasSubstr("name=my_name:"));
  EXPECT_THAT(the(figures, "landtrace_my_name_hits").help, testing::HasSubstr("name=my-name:"));
  EXPECT_EQ(the(figures, "landtrace_metrics_left_out").series[0].value, Number(std::uint64_t{0}));
}

TEST(FamiliesTest, KeysThatBecomeAlikeAreTwoLabels) {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=status,status.hex [active]";
  table.keys = {{KeyKind::kUnsigned, "status"}, {KeyKind::kUnsigned, "status.hex"}};
  table.rows = {{{{1, "", {}}, {1, "", {}}}, 2, {}}};
  EXPECT_EQ(the(with(table), "landtrace_hits").series[0].labels,
            (Labels{{"event", "user_events:done"}, {"status", "1"}, {"status_", "1"}}));
}

TEST(FamiliesTest, ANamedHistogramOfSeveralEventsIsThereOnce) {
  Figures figures = with(requests("hist:name=n:keys=route,took.log2 [active]"));
  figures.histograms.push_back({"", "user_events:other", figures.histograms[0].table});
  EXPECT_THAT(the(figures, "landtrace_n").series, SizeIs(2));
  EXPECT_EQ(the(figures, "landtrace_metrics_left_out").series[0].value, Number(std::uint64_t{0}));
  figures.histograms.push_back({"box", "user_events:other", figures.histograms[0].table});
  EXPECT_THAT(the(figures, "landtrace_n").series, SizeIs(4)) << "another instance's is another";
}

TEST(FamiliesTest, WhatNoLabelTellsApartIsThereOnceAndSaid) {
  Figures figures = with(requests("hist:keys=route,took.log2:size=64 [active]"));
  figures.histograms.push_back({"", "user_events:done", requests("hist:keys=route,took.log2:size=128 [active]")});
  EXPECT_THAT(the(figures, "landtrace_histogram").series, SizeIs(2));
  EXPECT_EQ(the(figures, "landtrace_metrics_left_out").series[0].value, Number(std::uint64_t{4}));
}

TEST(FamiliesTest, OfTooManyRowsItIsSaidHowManyWereLeftOut) {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=id [active]";
  table.keys = {{KeyKind::kUnsigned, "id"}};
  for (std::uint64_t i = 0; i < kMostSeries + 7; ++i) table.rows.push_back({{{i, "", {}}}, 1, {}});
  EXPECT_THAT(the(with(table), "landtrace_hits").series, SizeIs(kMostSeries));
  EXPECT_EQ(the(with(table), "landtrace_metrics_left_out").series[0].value, Number(std::uint64_t{7}));
}

TEST(FamiliesTest, EventsThatFoundNoRoomAreCounted) {
  ipc::HistogramTable table = requests("hist:keys=route,took.log2 [active]");
  EXPECT_EQ(find(families_of(with(table)), "landtrace_histogram_dropped"), nullptr);
  table.dropped = 11;
  EXPECT_EQ(the(with(table), "landtrace_histogram_dropped").series[0].value, Number(std::uint64_t{11}));
}

TEST(FamiliesTest, ANameOfTwoKindsIsTwoFamilies) {
  ipc::HistogramTable counter;
  counter.trigger = "hist:name=n:keys=status [active]";
  counter.keys = {{KeyKind::kUnsigned, "status"}};
  counter.rows = {{{{1, "", {}}}, 2, {}}};
  Figures figures = with(counter);
  figures.histograms.push_back({"box", "user_events:done", requests("hist:name=n:keys=route,took.log2 [active]")});
  EXPECT_EQ(the(figures, "landtrace_n").kind, Family::Kind::kCounter);
  EXPECT_EQ(the(figures, "landtrace_n_distribution").kind, Family::Kind::kHistogram);
}

TEST(FamiliesTest, AStackIsOneLabel) {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=common_stacktrace [active]";
  table.keys = {{KeyKind::kStack, "common_stacktrace"}};
  table.rows = {{{{0, "", {{0x10, "inner"}, {0x20, ""}}}}, 1, {}}};
  EXPECT_EQ(the(with(table), "landtrace_hits").series[0].labels.back(), (Label{"common_stacktrace", "inner;0x20"}));
}

}  // namespace
}  // namespace landtrace::metrics
