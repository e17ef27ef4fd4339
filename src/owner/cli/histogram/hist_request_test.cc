#include "cli/histogram/hist_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HistOptions options(std::vector<std::string> keys, std::vector<std::string> vals = {}) {
  HistOptions made;
  made.event = "job";
  made.keys = std::move(keys);
  made.vals = std::move(vals);
  return made;
}

std::string trigger(const HistOptions& wanted) {
  const auto shape = shape_of(wanted);
  EXPECT_TRUE(shape);
  return shape ? trigger_of(wanted, *shape) : "";
}

std::string refusal(const HistOptions& wanted) {
  const auto shape = shape_of(wanted);
  return shape ? "" : shape.error().message;
}

TEST(HistRequestTest, KeysAreShownWithoutTheirModifiers) {
  const auto shape = shape_of(options({"common_pid.execname", "n", "stacktrace"}));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->title, "job");
  EXPECT_THAT(shape->keys, ElementsAre("common_pid", "n", "common_stacktrace"));
  EXPECT_THAT(shape->sums, IsEmpty());
  EXPECT_FALSE(shape->spread);
}

TEST(HistRequestTest, AValueWithLog2IsSpreadAndOthersAreAddedUp) {
  const auto shape = shape_of(options({"route"}, {"bytes", "took.log2", "rows"}));
  ASSERT_TRUE(shape);
  EXPECT_THAT(shape->sums, ElementsAre("bytes", "rows"));
  EXPECT_EQ(shape->spread, "took");
  EXPECT_FALSE(shape->is_time);
}

TEST(HistRequestTest, AValueInNanosecondsIsATime) {
  EXPECT_TRUE(shape_of(options({}, {"took_ns.log2"}))->is_time);
  EXPECT_FALSE(shape_of(options({}, {"took_ns_2.log2"}))->is_time);
}

TEST(HistRequestTest, WhatNoHistogramCanHaveIsRefused) {
  EXPECT_THAT(refusal(options({})), HasSubstr("want --keys"));
  EXPECT_THAT(refusal(options({}, {"bytes"})), HasSubstr("want --keys"));
  EXPECT_THAT(refusal(options({"a", "b", "c", "d"})), HasSubstr("three keys at most"));
  EXPECT_THAT(refusal(options({"a", "b", "c"}, {"d.log2"})), HasSubstr("three keys at most"));
  EXPECT_THAT(refusal(options({"a"}, {"b.log2", "c.log2"})), HasSubstr("one value can have .log2"));
  EXPECT_EQ(refusal(options({"a", "b", "c"}, {"d"})), "");
  EXPECT_EQ(refusal(options({"a", "b"}, {"d.log2"})), "");
}

TEST(HistRequestTest, TheTriggerHasTheKeysAsTheyWereWritten) {
  EXPECT_EQ(trigger(options({"common_pid.execname", "n"})), "hist:keys=common_pid.execname,n");
  EXPECT_EQ(trigger(options({"n"}, {"a", "b"})), "hist:keys=n:vals=a,b");
}

TEST(HistRequestTest, ASpreadValueIsTheLastKeyAndTheLastSum) {
  EXPECT_EQ(trigger(options({"n"}, {"t.log2", "a"})), "hist:keys=n,t.log2:vals=a,t");
  EXPECT_EQ(trigger(options({}, {"t.log2"})), "hist:keys=t.log2:vals=t");
}

TEST(HistRequestTest, SizeAndFilterStandAtTheEnd) {
  HistOptions wanted = options({"n"});
  wanted.size = 500;
  wanted.filter = "n != 0";
  EXPECT_EQ(trigger(wanted), "hist:keys=n:size=512 if n != 0");
}

}  // namespace
}  // namespace landtrace::cli
