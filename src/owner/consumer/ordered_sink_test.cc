#include "consumer/ordered_sink.hpp"

#include <gtest/gtest.h>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::consumer {
namespace {

class Noted : public OrderedSink {
 public:
  std::string take() { return std::exchange(noted_, ""); }
  void stop() { fail_with_error(Error(EPIPE)); }

 private:
  void in_order(const output::Record& record, const output::Task* who, const output::EventType& type) override {
    std::uint32_t n = 0;
    std::memcpy(&n, record.payload.data(), sizeof n);
    noted_ += type.name.substr(0, 1) + std::to_string(n) + (who != nullptr ? who->comm : "") + ' ';
  }
  void lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override {
    noted_ += std::to_string(count) + "/" + std::to_string(cpu) + "@" + std::to_string(time_ns) + ' ';
  }
  void round_is_over() override { noted_ += "| "; }
  void all_is_over() override { noted_ += "end"; }

  std::string noted_;
};

class OrderedSinkTest : public testing::Test {
 protected:
  OrderedSinkTest() { sink_.type(type_); }
  void event(std::uint64_t time, std::uint32_t cpu, std::uint32_t n) {
    sink_.event(output::number_record(time, cpu, n), type_);
  }

  output::EventType type_ = output::number_type();
  Noted sink_;
};

TEST_F(OrderedSinkTest, EventsOfSeveralCpusAreInTheOrderOfTime) {
  event(10, 0, 1);
  event(30, 0, 3);
  event(20, 1, 2);
  event(40, 1, 4);
  sink_.settled(100);
  EXPECT_EQ(sink_.take(), "n1 n2 n3 n4 | ");
  EXPECT_EQ(sink_.written(), 4u);
}

TEST_F(OrderedSinkTest, WhatIsBehindTheHorizonWaitsForEarlierOnes) {
  event(10, 0, 1);
  event(30, 0, 3);
  sink_.settled(30);
  EXPECT_EQ(sink_.take(), "n1 | ");
  event(29, 1, 2);
  event(50, 1, 5);
  sink_.settled(40);
  EXPECT_EQ(sink_.take(), "n2 n3 | ");
  std::ignore = sink_.finish();
  EXPECT_EQ(sink_.take(), "n5 | end");
}

TEST_F(OrderedSinkTest, OfTheSameTimeTheLowerCpuComesFirst) {
  event(10, 2, 2);
  event(10, 2, 3);
  event(10, 1, 1);
  sink_.settled(11);
  EXPECT_EQ(sink_.take(), "n1 n2 n3 | ");
}

TEST_F(OrderedSinkTest, LossIsToldBeforeTheNextEventOfItsCpu) {
  event(10, 0, 1);
  sink_.lost(0, 5);
  sink_.lost(0, 2);
  event(30, 0, 3);
  event(20, 1, 2);
  sink_.lost(1, 4);
  sink_.settled(100);
  EXPECT_EQ(sink_.take(), "n1 n2 7/0@30 n3 | ");
  std::ignore = sink_.finish();
  EXPECT_EQ(sink_.take(), "| 4/1@30 end");
}

TEST_F(OrderedSinkTest, AThreadHasTheNameThatIsKnownByThen) {
  event(10, 0, 1);
  sink_.settled(11);
  sink_.task(100, {"app", 90});
  event(12, 0, 2);
  sink_.settled(13);
  EXPECT_EQ(sink_.take(), "n1 | n2app | ");
}

TEST_F(OrderedSinkTest, AfterAFailureNothingIsGiven) {
  event(10, 0, 1);
  sink_.stop();
  event(11, 0, 2);
  sink_.settled(20);
  std::ignore = sink_.finish();
  EXPECT_EQ(sink_.take(), "");
}

}  // namespace
}  // namespace landtrace::consumer
