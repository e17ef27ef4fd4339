#include "cli/fleet/fleet_text.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

Reports with_silent(std::size_t count) {
  Reports reports;
  reports.applied = 1'200;
  for (std::size_t i = 0; i < count; ++i) reports.silent.push_back("h" + std::to_string(i));
  return reports;
}

TEST(ReportsText, CountsHosts) {
  EXPECT_EQ(reports_text({}), "applied by 0 hosts");
  Reports reports;
  reports.applied = reports.refused = 1;
  EXPECT_EQ(reports_text(reports), "applied by 1 host, refused by 1 host");
  reports.ended = 2;
  reports.refused = 4'000;
  EXPECT_EQ(reports_text(reports), "applied by 3 hosts, refused by 4,000 hosts");
}

TEST(ReportsText, NamesSomeOfThoseThatDoNotAnswer) {
  EXPECT_EQ(reports_text(with_silent(1)), "applied by 1,200 hosts, no answer from h0");
  EXPECT_EQ(reports_text(with_silent(8)), "applied by 1,200 hosts, no answer from h0, h1, h2, h3, h4, h5, h6, h7");
  EXPECT_EQ(reports_text(with_silent(9)),
            "applied by 1,200 hosts, no answer from h0, h1, h2, h3, h4, h5, h6, h7 and 1 more");
  EXPECT_EQ(reports_text(with_silent(10'000)),
            "applied by 1,200 hosts, no answer from h0, h1, h2, h3, h4, h5, h6, h7 and 9,992 more");
}

TEST(SnapshotProblem, OneDoesNotHideAnother) {
  EXPECT_EQ(problem_text("", 0, ""), "");
  EXPECT_EQ(problem_text("it ends within an event", 0, ""), "it ends within an event");
  EXPECT_EQ(problem_text("", 1'200, "too many CPUs"), "1,200 events have no room: too many CPUs");
  EXPECT_EQ(problem_text("it ends within an event", 2, "too many CPUs"),
            "it ends within an event; 2 events have no room: too many CPUs");
}

}  // namespace
}  // namespace landtrace::cli
