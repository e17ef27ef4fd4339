#include "cli/histogram/fits.hpp"

#include <gtest/gtest.h>

#include "cli/histogram/hist_request.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

const output::EventType& job() {
  static const output::EventType type = output::make_type(1, "job u32 source; char[8] route");
  return type;
}

std::string said(const Result<void>& result) { return result ? "" : result.error().message; }

TEST(FitsTest, AFieldThatIsNotThereIsPointedAt) {
  EXPECT_EQ(said(check_has_fields("--keys", {"source", "nosuch"}, job())),
            "--keys: user_events:job has no field 'nosuch'; it has source, route\n"
            "  source,nosuch\n"
            "         ^");
  EXPECT_EQ(said(check_has_fields("--vals", {"suorce.log2"}, job())),
            "--vals: user_events:job has no field 'suorce'; did you mean source?\n"
            "  suorce.log2\n"
            "  ^");
  EXPECT_EQ(said(check_has_fields("--by", {"x"}, output::make_type(1, "empty"))),
            "--by: user_events:empty has no field 'x'; it has no fields\n"
            "  x\n"
            "  ^");
}

TEST(FitsTest, OnlyIntegersAreAddedUp) {
  const output::EventType type = output::make_type(1, "job s32 n; struct float load 4; char[8] route");
  EXPECT_EQ(said(check_can_be_added({"n", "n.log2", "common_pid"}, type)), "");
  EXPECT_EQ(said(check_can_be_added({"n", "load.log2"}, type)),
            "--vals: 'load' is a floating-point number, and cannot be added up\n"
            "  n,load.log2\n"
            "    ^");
  EXPECT_TRUE(said(check_can_be_added({"route"}, type)).starts_with("--vals: 'route' is no number, and cannot be"));
}

TEST(FitsTest, WhatEveryEventHasIsThere) {
  for (const char* const name : {"source", "route", "source.hex", "common_pid.execname", "common_timestamp.usecs",
                                 "common_stacktrace", "stacktrace", "cpu", "common_cpu", "hitcount"}) {
    EXPECT_EQ(said(check_has_fields("--keys", {name}, job())), "") << name;
  }
}

TEST(FitsTest, AnExpressionIsLeftToTheOwner) {
  EXPECT_EQ(said(check_has_fields("--vals", {"a-b", "$x", ""}, job())), "");
}

TEST(FitsTest, AFilterIsPointedAt) {
  EXPECT_EQ(said(check_filter_fits("source > 5 && nosuch == 1", job())),
            "--filter: Field not found\n"
            "  source > 5 && nosuch == 1\n"
            "                ^");
  EXPECT_EQ(said(check_filter_fits("source > 5 && route ~ \"/a*\" && CPU < 4", job())), "");
  EXPECT_EQ(said(check_filter_fits("", job())), "");
}

TEST(FitsTest, AHistogramNeedsItsKeysItsValuesAndItsFilter) {
  HistOptions options;
  options.event = "job";
  options.keys = {"source"};
  options.vals = {"source"};
  EXPECT_EQ(said(check_fits(options, job())), "");
  options.vals = {"n"};
  EXPECT_TRUE(said(check_fits(options, job())).starts_with("--vals: "));
  options.keys = {"n"};
  EXPECT_TRUE(said(check_fits(options, job())).starts_with("--keys: "));
  options.keys = options.vals = {"source"};
  options.filter = "n == 1";
  EXPECT_TRUE(said(check_fits(options, job())).starts_with("--filter: "));
}

}  // namespace
}  // namespace landtrace::cli
