#include "output/text/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/text/bare.hpp"
#include "output/text/latency.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

EventType number_type() {
  auto declaration = event::parse_declaration("e1 u32 n");
  return {60000, "user_events", "e1", *std::move(declaration), {}};
}

std::string line(std::uint64_t time_ns, const Task* task, const TextColumns& columns = {}) {
  const std::uint32_t n = 7;
  std::string out;
  const EventType type = number_type();
  append_text_line(out, {time_ns, 3, 1234, 60000, std::as_bytes(std::span(&n, 1))}, task, &type, columns);
  return out;
}

TEST(TextLineTest, Layout) {
  const Task task{"app", 0};
  EXPECT_EQ(line(12'345'678'000, &task), "             app-1234    [003] .....    12.345678: e1: n=0x7 (7)\n");
}

TEST(TextLineTest, LongTaskAndWideNumbersPushTheRest) {
  const Task task{"a-task-of-20-letters", 0};
  const EventType type = number_type();
  std::string out;
  append_text_line(out, {1'234'567'000'001'000, 1024, 12345678, 60000, {}}, &task, &type);
  EXPECT_EQ(out, "a-task-of-20-letters-12345678 [1024] ..... 1234567.000001: e1: n=<OVERFLOW>\n");
}

TEST(TextLineTest, UnknownTask) { EXPECT_THAT(line(0, nullptr), HasSubstr("           <...>-1234    [003]")); }

TEST(TextLineTest, TimeIsRoundedToMicroseconds) {
  EXPECT_THAT(line(1'499, nullptr), HasSubstr(" .....     0.000001: "));
  EXPECT_THAT(line(1'500, nullptr), HasSubstr(" .....     0.000002: "));
  EXPECT_THAT(line(~0ull, nullptr), HasSubstr("18446744073.709552: "));
}

TEST(TextLineTest, TgidColumn) {
  const Task known{"app", 1200};
  const Task unknown{"app", 0};
  EXPECT_THAT(line(0, &known, {.tgid = true}), HasSubstr("-1234    (   1200) [003] ....."));
  EXPECT_THAT(line(0, &unknown, {.tgid = true}), HasSubstr("-1234    (-------) [003] ....."));
}

// As Linux 6.18 prints a marker with these options.
TEST(TextLineTest, OtherColumns) {
  EXPECT_EQ(line(5'000'000'000, nullptr, {.irq_info = false}),
            "           <...>-1234    [003]      5.000000: e1: n=0x7 (7)\n");
  EXPECT_EQ(line(5'000, nullptr, {.context = false}), "e1: n=0x7 (7)\n");
  EXPECT_THAT(line(5'000, nullptr, {.time_in_ns = false}), HasSubstr(" .....         5000: e1:"));
}

TEST(TextLineTest, UnknownEvent) {
  std::string out;
  append_text_line(out, {0, 0, 1, 77, {}}, nullptr, nullptr);
  EXPECT_THAT(out, EndsWith(": Unknown type 77\n"));
}

TEST(TextLineTest, EventWithoutFields) {
  const EventType type{1, "user_events", "nothing", {"nothing", {}, 0}, {}};
  std::string out;
  append_text_line(out, {}, nullptr, &type, {.context = false});
  EXPECT_EQ(out, "nothing:No fields found\n");
}

TEST(TextLineTest, Marker) {
  const EventType type{5, "ftrace", "print", {}, {}};
  const std::string payload("\0\x10\0\0\0\0\0\0hi there\n\0", 18);
  std::string out;
  append_text_line(out, {0, 0, 1, 5, std::as_bytes(std::span(payload))}, nullptr, &type, {.context = false});
  EXPECT_EQ(out, "tracing_mark_write: hi there\n");
  out.clear();
  append_text_line(out, {0, 0, 1, 5, {}}, nullptr, &type, {.context = false});
  EXPECT_EQ(out, "tracing_mark_write: \n");
}

TEST(TextLineTest, Lost) {
  std::string out;
  append_text_lost(out, 3, 12);
  append_text_lost(out, 4, kLostUnknown);
  EXPECT_EQ(out, "CPU:3 [LOST 12 EVENTS]\nCPU:4 [LOST EVENTS]\n");
}

// As Linux 6.18 prints markers with these options.
class OtherFormsTest : public ::testing::Test {
 protected:
  std::string latency(std::uint64_t next_us, const TextColumns& columns = {.latency = true}) const {
    std::string out;
    const Task task{"bash", 0};
    append_latency_context(out, record_, &task, {3, 0, 12017867356000 + next_us * 1000}, columns);
    return out;
  }
  std::string payload_ = std::string("\x5a\x89\x49\x81\xff\xff\xff\xffhello\n\0", 15);
  Record record_{12017867356000, 1, 19129, 5, std::as_bytes(std::span(payload_))};
  EventType marker_ = marker_type();
};

TEST_F(OtherFormsTest, LatencyFormatMarksDelays) {
  EXPECT_EQ(latency(0), "    bash-19129     1..... 12017867356us : ");
  EXPECT_THAT(latency(10), EndsWith("us : "));
  EXPECT_THAT(latency(11), EndsWith("us+: "));
  EXPECT_THAT(latency(101), EndsWith("us!: "));
  EXPECT_THAT(latency(1001), EndsWith("us#: "));
  EXPECT_THAT(latency(10'001), EndsWith("us*: "));
  EXPECT_THAT(latency(100'001), EndsWith("us@: "));
  EXPECT_THAT(latency(1'000'001), EndsWith("us$: "));
}

TEST_F(OtherFormsTest, VerboseLatencyFormat) {
  EXPECT_EQ(latency(18, {.latency = true, .verbose = true}),
            "            bash   19129   1 0 00000000 00000003 [2cc521a5c] 12017867.356ms (+0.018ms): ");
}

TEST_F(OtherFormsTest, Raw) {
  std::string out;
  append_raw_line(out, record_, &marker_, true);
  append_raw_line(out, record_, &marker_, false);
  EXPECT_EQ(out, "19129 1 12017867356000 # ffffffff8149895a hello\n# ffffffff8149895a hello\n");
}

TEST_F(OtherFormsTest, Hex) {
  std::string out;
  record_.time_ns = 0xaee20b6f645;
  append_hex_line(out, record_, &marker_, true);
  EXPECT_EQ(out, "00004ab9 00000001 00000aee20b6f645 type: 5\n\n");
}

TEST_F(OtherFormsTest, Fields) {
  std::string out;
  append_fields_body(out, record_, &marker_);
  EXPECT_EQ(out, "UNKNOWN TYPE 5\n");
}

TEST_F(OtherFormsTest, RawMarker) {
  const std::string bytes("abcd\1\2\3\0", 8);
  const EventType type = raw_marker_type();
  std::string out;
  append_text_body(out, {0, 0, 1, type.id, std::as_bytes(std::span(bytes))}, &type);
  EXPECT_EQ(out, "# 64636261 buf: 01 02 03 00\n");
}

}  // namespace
}  // namespace landtrace::output
