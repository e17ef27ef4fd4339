#include "cli/histogram/latency_request.hpp"

#include <gtest/gtest.h>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class LatencyRequestTest : public testing::Test {
 protected:
  LatencyRequestTest() {
    options_.from = "start";
    options_.to = "done";
    options_.key = "id";
  }

  LatencyOptions options_;
  output::EventType done_ =
      output::make_type(1, "done u64 id; char[16] route; s16 code; __data_loc char[] name; __rel_loc char[] who; u8 b");
};

TEST_F(LatencyRequestTest, TheFirstEventLeavesItsTimeUnderItsKey) {
  EXPECT_EQ(start_trigger(options_), "hist:keys=id:landtrace_t0=common_timestamp");
  options_.size = 100;
  options_.filter = "id > 3";
  EXPECT_EQ(start_trigger(options_), "hist:keys=id:landtrace_t0=common_timestamp:size=128 if id > 3");
}

TEST_F(LatencyRequestTest, TheSecondMakesAnEventOfTheDifference) {
  EXPECT_EQ(end_trigger(options_, "lat"),
            "hist:keys=id:landtrace_dt=common_timestamp-$landtrace_t0:onmatch(user_events.start).trace(lat,"
            "$landtrace_dt)");
}

TEST_F(LatencyRequestTest, TheSecondMayCallTheKeyOtherwiseAndHandFieldsOn) {
  options_.from = "app:begin";
  options_.to_key = "number";
  options_.by = {"route", "code"};
  options_.size = 256;
  EXPECT_EQ(end_trigger(options_, "lat"),
            "hist:keys=number:landtrace_dt=common_timestamp-$landtrace_t0:onmatch(app.begin).trace(lat,$landtrace_dt,"
            "route,code):size=256");
}

TEST_F(LatencyRequestTest, TheDifferenceIsSpreadByTheFieldsBeforeIt) {
  EXPECT_EQ(spread_trigger(options_), "hist:keys=latency_ns.log2:vals=latency_ns");
  options_.by = {"route", "code"};
  options_.size = 64;
  options_.filter = "id > 3";  // the first event's
  EXPECT_EQ(spread_trigger(options_), "hist:keys=route,code,latency_ns.log2:vals=latency_ns:size=64");
}

TEST_F(LatencyRequestTest, TheEventIsDeclaredWithTheFieldsTypes) {
  EXPECT_EQ(*definition_of(options_, "lat", done_), "lat u64 latency_ns");
  options_.by = {"code", "route", "name", "who", "b", "id"};
  EXPECT_EQ(*definition_of(options_, "lat", done_),
            "lat u64 latency_ns; s16 code; char[] route; char[] name; char[] who; u8 b; u64 id");
}

TEST_F(LatencyRequestTest, AFieldThatTheEventHasNotIsNamed) {
  options_.by = {"code", "nosuch"};
  const auto definition = definition_of(options_, "lat", done_);
  ASSERT_FALSE(definition);
  EXPECT_EQ(definition.error().code, EINVAL);
  EXPECT_EQ(definition.error().message, "--by: user_events:done has no field 'nosuch'");
}

}  // namespace
}  // namespace landtrace::cli
