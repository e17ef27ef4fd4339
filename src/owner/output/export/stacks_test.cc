#include "output/export/stacks.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace landtrace::output {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class StackJoinerTest : public testing::Test {
 protected:
  void event(std::uint64_t time, std::int32_t tid, char payload = 'e') {
    const std::byte byte{static_cast<unsigned char>(payload)};
    joiner_.add({.time_ns = time, .cpu = 0, .tid = tid, .event_id = 1, .payload = {&byte, 1}}, false);
  }
  void stack(std::uint64_t time, std::int32_t tid, std::uint64_t address) {
    const std::uint64_t words[] = {7, address};
    joiner_.add({.time_ns = time, .cpu = 0, .tid = tid, .event_id = 2, .payload = std::as_bytes(std::span(words))},
                true);
  }
  std::string given() {
    std::string text;
    std::swap(text, given_);
    return text;
  }

  std::string given_;
  StackJoiner joiner_{{[this](const Record& record, const UserStack* stack) {
                         given_ += std::to_string(record.time_ns) + ':' + std::to_string(record.payload.size());
                         if (stack != nullptr) {
                           given_ += '+' + std::to_string(stack->caller.at(0)) + '@' + std::to_string(stack->time_ns);
                         }
                         given_ += ' ';
                       },
                       [this](std::uint32_t cpu, std::uint64_t count, std::uint64_t) {
                         given_ += "lost" + std::to_string(count) + "/" + std::to_string(cpu) + ' ';
                       }}};
};

TEST_F(StackJoinerTest, AStackGoesWithTheEventBeforeItOfItsThread) {
  event(10, 1);
  event(11, 2);
  stack(12, 1, 100);
  EXPECT_EQ(given(), "10:1+100@12 ");
  stack(13, 2, 200);
  EXPECT_EQ(given(), "11:1+200@13 ");
}

TEST_F(StackJoinerTest, AnEventWithoutAStackIsGivenWhenItsThreadHasAnother) {
  event(10, 1);
  EXPECT_EQ(given(), "");
  event(11, 1);
  EXPECT_EQ(given(), "10:1 ");
  joiner_.end();
  EXPECT_EQ(given(), "11:1 ");
}

TEST_F(StackJoinerTest, TheOrderStaysAsItWas) {
  event(10, 1);
  event(11, 2);
  event(12, 2);
  joiner_.add_lost(3, 5, 13);
  EXPECT_EQ(given(), "");
  stack(14, 1, 100);
  EXPECT_EQ(given(), "10:1+100@14 11:1 ");
  joiner_.end();
  EXPECT_EQ(given(), "12:1 lost5/3 ");
}

TEST_F(StackJoinerTest, ASecondStackIsAnEventOfItsOwn) {
  event(10, 1);
  stack(11, 1, 100);
  stack(12, 1, 200);
  EXPECT_EQ(given(), "10:1+100@11 12:16 ");
}

TEST_F(StackJoinerTest, AThreadThatSleepsDelaysNobodyForLong) {
  event(10, 1);
  event(10 + 100 * kMs, 2);
  EXPECT_EQ(given(), "");
  event(11 + 100 * kMs, 3);
  EXPECT_EQ(given(), "10:1 ");
  stack(12 + 100 * kMs, 1, 100);  // too late
  joiner_.end();
  EXPECT_EQ(given(), "100000010:1 100000011:1 100000012:16 ");
}

TEST_F(StackJoinerTest, NoMoreThanSoManyWait) {
  for (int i = 0; i < 4096; ++i) event(10, i);
  EXPECT_EQ(given(), "");
  event(10, 4096);
  EXPECT_EQ(given(), "10:1 ");
}

}  // namespace
}  // namespace landtrace::output
