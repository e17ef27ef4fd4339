#include "cli/lines/line_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/probe_fields.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

using testing::ElementsAre;

class LineWriterTest : public testing::Test {
 protected:
  std::string line(std::uint64_t time_ns = 1'000'000'000) {
    if (!lines_) {
      lines_.emplace(style_, true);
      lines_->set_wall_offset(0);
      lines_->know(type_);
    }
    const std::uint32_t values[] = {1, 2, 3};
    std::string out;
    lines_->event(out,
                  {.time_ns = time_ns, .cpu = 0, .tid = 5, .event_id = 7, .payload = std::as_bytes(std::span(values))},
                  &task_, &type_);
    return out;
  }

  LineStyle style_;
  output::Task task_{"app", 5};
  output::EventType type_ = output::make_type(7, "three u32 a; u32 b; u32 c");
  std::optional<LineWriter> lines_;
};

TEST_F(LineWriterTest, ALineIsTheKernels) {
  EXPECT_EQ(line(), "             app-5       [000] .....     1.000000: three: a=0x1 (1) b=0x2 (2) c=0x3 (3)\n");
}

TEST_F(LineWriterTest, FieldsAreChosenInTheirOrder) {
  style_.fields = {"c", "a"};
  EXPECT_EQ(line(), "             app-5       [000] .....     1.000000: three: c=0x3 (3) a=0x1 (1)\n");
}

TEST_F(LineWriterTest, OfAnEventThatHasNoneOfThemTheNameIsLeft) {
  style_.fields = {"d"};
  EXPECT_EQ(line(), "             app-5       [000] .....     1.000000: three:\n");
  EXPECT_THAT(lines_->fields_nobody_has(), ElementsAre("d"));
  EXPECT_THAT(lines_->fields_there_are(), ElementsAre("a", "b", "c"));
}

TEST_F(LineWriterTest, JsonHasTheChosenFieldsAlone) {
  style_.json = true;
  style_.fields = {"b"};
  style_.is_utc = true;
  EXPECT_EQ(
      line(),
      "{\"time\":1000000000,\"utc\":\"1970-01-01T00:00:01.000000Z\",\"cpu\":0,\"pid\":5,\"tgid\":5,\"comm\":\"app\","
      "\"system\":\"user_events\",\"event\":\"three\",\"fields\":{\"b\":2}}\n");
}

TEST_F(LineWriterTest, AddressesOfProbesStandBeforeChosenFields) {
  const auto line_of = [this](event::Flavour flavour, const std::vector<std::uint64_t>& values) {
    type_ = {7, "uprobes", "p", event::declare_probe(flavour, "p", "u64 a; u64 b").value(), {}};
    LineWriter lines(style_, true);
    lines.know(type_);
    const output::Record record{
        .time_ns = 1000, .cpu = 0, .tid = 5, .event_id = 7, .payload = std::as_bytes(std::span(values))};
    std::string out;
    lines.event(out, record, &task_, &type_);
    event::TextBuffer text;
    lines.event(text, record, &task_, &type_);
    EXPECT_EQ(text.text(), out);
    return out.substr(out.find("p: "));
  };
  for (const std::vector<std::string>& fields : {std::vector<std::string>{"b"}, {"b", "__probe_ip", "__probe_func"}}) {
    style_.fields = fields;
    EXPECT_EQ(line_of(event::Flavour::kEntryProbe, {0x1000, 1, 2}), "p: (0x1000) b=2\n");
    EXPECT_EQ(line_of(event::Flavour::kReturnProbe, {0x1000, 0x2000, 1, 2}), "p: (0x2000 <- 0x1000) b=2\n");
  }
  style_.json = true;
  style_.fields = {"a"};
  type_ = {7, "uprobes", "p", event::declare_probe(event::Flavour::kEntryProbe, "p", "u32 a").value(), {}};
  EXPECT_THAT(line(), testing::HasSubstr("\"fields\":{\"a\":3}"));
}

TEST_F(LineWriterTest, TimesOfDayStandWhereTimesStand) {
  style_.is_utc = true;
  EXPECT_EQ(line(),
            "             app-5       [000] ..... 1970-01-01T00:00:01.000000Z: three: a=0x1 (1) b=0x2 (2) c=0x3 (3)\n");
}

TEST_F(LineWriterTest, TimesAreSinceTheFirstOrTheOneBefore) {
  style_.is_relative = true;
  EXPECT_THAT(line(1'000'000), testing::HasSubstr("  0.000000: three"));
  EXPECT_THAT(line(4'000'000), testing::HasSubstr("  0.003000: three"));
  EXPECT_THAT(line(9'000'000), testing::HasSubstr("  0.008000: three"));
  lines_.reset();
  style_.is_relative = false;
  style_.is_delta = true;
  EXPECT_THAT(line(1'000'000), testing::HasSubstr("  0.000000: three"));
  EXPECT_THAT(line(4'000'000), testing::HasSubstr("  0.003000: three"));
  EXPECT_THAT(line(9'000'000), testing::HasSubstr("  0.005000: three"));
}

TEST_F(LineWriterTest, ColoursAreAroundTheTimeAndTheName) {
  style_.has_colors = style_.for_terminal = true;
  EXPECT_EQ(
      line(),
      "             app-5       [000] .....     \033[36m1.000000\033[0m: \033[1mthree\033[0m: a=0x1 (1) b=0x2 (2) "
      "c=0x3 (3)\n");
  std::string out;
  lines_->lost(out, 3, 12);
  EXPECT_EQ(out, "\033[1;31mCPU:3 [LOST 12 EVENTS]\033[0m\n");
}

TEST_F(LineWriterTest, OnATerminalANameMovesNoCursor) {
  style_.for_terminal = true;
  task_.comm = "a\x1b[2J: ";
  EXPECT_EQ(line(), "         a\\x1b[2J: -5       [000] .....     1.000000: three: a=0x1 (1) b=0x2 (2) c=0x3 (3)\n");
}

TEST_F(LineWriterTest, OnATerminalTheNameOfAnEventMovesNoCursorEither) {
  type_.name = "three\x1b[2J";
  style_.fields = {"d"};
  EXPECT_THAT(line(), testing::EndsWith(": three\x1b[2J:\n"));
  lines_.reset();
  style_.for_terminal = true;
  EXPECT_THAT(line(), testing::EndsWith(": three\\x1b[2J:\n"));
}

}  // namespace
}  // namespace landtrace::cli
