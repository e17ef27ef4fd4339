#include "output/text/lines.hpp"

#include <gtest/gtest.h>

#include <random>

#include "output/text/line.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

EventType type_of(std::uint16_t id, const std::string& declaration) {
  auto parsed = event::parse_declaration(declaration);
  std::string name = parsed->name;
  return {id, "user_events", std::move(name), *std::move(parsed), {}};
}

class TextLinesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const EventType& type : types_) lines_.know(type);
  }
  // What is printed, and what append_text_line() would print.
  void compare(const Record& record, const Task* task, const EventType* type) {
    std::string expected;
    append_text_line(expected, record, task, type, columns_);
    event::TextBuffer out;
    lines_.append(out, record, task, type, columns_);
    EXPECT_EQ(out.text(), expected);
  }

  std::vector<EventType> types_{type_of(7, "seven u32 n; __rel_loc char[] text"), type_of(300, "other u64 n"),
                                marker_type(), raw_marker_type(), user_stack_type()};
  std::vector<Task> tasks_{{"app", 0}, {"", 12}, {std::string(100, 'n'), 4194304}};
  TextColumns columns_;
  TextLines lines_;
};

TEST_F(TextLinesTest, LinesAreThoseOfAppendTextLine) {
  std::mt19937 random(1);
  const std::vector<std::int32_t> tids{1, 65, 129, 4194304, -5};  // some of which are kept at the same place
  std::vector<std::byte> payload(40);
  std::uint64_t time_ns = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random() % 60);
    time_ns += random() % 3 == 0 ? random() : random() % 700;
    if (random() % 100 == 0) time_ns -= random() % 2'000'000'000;
    const std::size_t which = random() % (types_.size() + 1);
    const EventType* const type = which < types_.size() ? &types_[which] : nullptr;
    const Task* const task = random() % 4 == 0 ? nullptr : &tasks_[random() % tasks_.size()];
    compare({time_ns, static_cast<std::uint32_t>(random() % 3 * 700), tids[random() % tids.size()],
             type != nullptr ? type->id : std::uint16_t{9}, std::span(payload).first(random() % payload.size())},
            task, type);
  }
}

TEST_F(TextLinesTest, TimesAroundASecondAreRounded) {
  for (const std::uint64_t second : {0ull, 1ull, 99'999ull, 18'446'744'072ull}) {
    for (const std::uint64_t off : {0ull, 499ull, 500ull, 1'000ull, 999'999'499ull, 999'999'500ull, 999'999'999ull}) {
      compare({second * 1'000'000'000 + off, 0, 1, 9, {}}, nullptr, nullptr);
    }
  }
  compare({~0ull, 0, 1, 9, {}}, nullptr, nullptr);
  compare({5, 0, 1, 9, {}}, nullptr, nullptr);
}

TEST_F(TextLinesTest, TheOriginMayMove) {
  for (const std::uint64_t origin : {0ull, 5ull, 999'999'600ull, 3'000'000'000ull}) {
    columns_.origin_ns = origin;
    compare({2'000'000'100, 0, 1, 9, {}}, nullptr, nullptr);
  }
}

TEST_F(TextLinesTest, OtherColumns) {
  for (const bool flag : {false, true}) {
    columns_ = {.irq_info = flag, .tgid = !flag, .time_in_ns = flag};
    lines_.forget_tasks();
    compare({123'456'789, 2, 1, 9, {}}, tasks_.data(), nullptr);
  }
}

TEST_F(TextLinesTest, ATaskThatHasChangedIsForgotten) {
  const Record record{1, 0, 100, 9, {}};
  compare(record, tasks_.data(), nullptr);
  tasks_[0].comm = "renamed";
  lines_.forget_tasks();
  compare(record, tasks_.data(), nullptr);
}

TEST_F(TextLinesTest, ATypeThatHasChangedIsKnownAnew) {
  const std::uint32_t payload[] = {1, 2, 3};
  const Record record{1, 0, 100, 7, std::as_bytes(std::span(payload))};
  compare(record, nullptr, types_.data());
  types_[0] = type_of(7, "renamed u32 a; u32 b; u32 c");
  lines_.know(types_[0]);
  compare(record, nullptr, types_.data());
}

}  // namespace
}  // namespace landtrace::output
