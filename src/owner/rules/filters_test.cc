// Filters of events in an instance: what they let through, what is shown of them, what stays of them.
#include "rules/filters.hpp"

#include <gmock/gmock.h>

#include "rules/test_rules.hpp"

namespace landtrace::rules {
namespace {

using language::FilterFailureKind;
using testing::ElementsAre;
using testing::IsEmpty;

class FiltersTest : public RulesFixture {
 protected:
  FiltersTest() { event_ = make("e1 u32 n; char[8] name"); }

  void emit(std::uint32_t n, std::string name = "") {
    name.resize(8, '\0');
    write(0, n, name);
  }
  Filters& filters() { return rules_.filters(); }
  language::FilterResult<void> set(const std::string& expression) { return filters().set(top(), *event_, expression); }
  const EventFilter& shown() { return find_rules(*event_, top())->filter; }
  std::uint32_t program() { return event_->files[top().index].filter_program; }
  std::uint64_t bytes_in_use() {
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    return domain_->control().bytes_in_use();
  }
  // Uses up the control segment, but for what is given back again.
  void fill() {
    for (std::uint64_t size = plan::kControlBytes / 2; size >= 8; size /= 2) {
      while (domain_->control().allocate(size, 8)) {
      }
    }
  }

  Event* event_ = nullptr;
};

TEST_F(FiltersTest, OnlyEventsThatPassAreRecorded) {
  listen(event_);
  ASSERT_TRUE(set("n > 2 && name == \"yes\""));
  emit(3, "yes"), emit(3, "no"), emit(2, "yes"), emit(4, "yes");
  EXPECT_THAT(recorded(), ElementsAre(3, 4));
  filters().clear(top(), *event_);
  emit(1);
  EXPECT_THAT(recorded(), ElementsAre(3, 4, 1));
  EXPECT_EQ(shown().expression, "");
}

TEST_F(FiltersTest, AFilterThatWasSetBeforeAnybodyListenedHoldsThen) {
  ASSERT_TRUE(set("n == 2"));
  EXPECT_EQ(domain_->control().segment().events[event_->slot].plan, 0u);
  listen(event_);
  emit(1), emit(2);
  EXPECT_THAT(recorded(), ElementsAre(2));
}

TEST_F(FiltersTest, OneInstancesFilterIsNotTheOthers) {
  Instance& other = **domain_->instances().create("other", ring::Geometry::holding(0), true, true);
  listen(event_);
  ASSERT_TRUE(domain_->listening().set(other, {event_}, true));
  ASSERT_TRUE(filters().set(other, *event_, "n == 2"));
  emit(1), emit(2);
  EXPECT_THAT(recorded(), ElementsAre(1, 2));
  EXPECT_THAT(recorded(other), ElementsAre(2));
}

TEST_F(FiltersTest, ANewFilterTakesTheOldOnesPlace) {
  listen(event_);
  ASSERT_TRUE(set("n == 1"));
  ASSERT_TRUE(set("n == 2"));
  emit(1), emit(2);
  EXPECT_THAT(recorded(), ElementsAre(2));
  EXPECT_EQ(shown().expression, "n == 2");
}

TEST_F(FiltersTest, ARefusedFilterIsShownWithItsMistakeAndEverythingPasses) {
  listen(event_);
  ASSERT_TRUE(set("n == 1"));
  const auto refused = set("n == 1 && nosuch == 2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EINVAL);
  EXPECT_EQ(refused.error().kind, FilterFailureKind::kFieldNotFound);
  EXPECT_EQ(shown().expression, "n == 1 && nosuch == 2");
  EXPECT_EQ(shown().failure, refused.error());
  EXPECT_EQ(program(), 0u);
  emit(5);
  EXPECT_THAT(recorded(), ElementsAre(5));
  ASSERT_TRUE(set("n == 1"));
  EXPECT_FALSE(shown().failure);
}

TEST_F(FiltersTest, AnotherMistakeMayBeShownInstead) {
  const language::FilterFailure subsystem{EINVAL, FilterFailureKind::kBadSubsystemFilter, 3};
  const auto refused = filters().set(top(), *event_, "nosuch == 1", subsystem);
  EXPECT_EQ(refused.error().kind, FilterFailureKind::kFieldNotFound) << "the caller is told what it was";
  EXPECT_EQ(shown().failure, subsystem);
  EXPECT_TRUE(filters().set(top(), *event_, "n == 1", subsystem));
  EXPECT_FALSE(shown().failure);
}

TEST_F(FiltersTest, WhatIsReplacedIsFreed) {
  listen(event_);
  ASSERT_TRUE(set("n == 1"));
  const std::uint64_t before = bytes_in_use();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(set("n == " + std::to_string(i % 10)));
    ASSERT_FALSE(set("nosuch == 1"));
    ASSERT_TRUE(set("n == 1"));
  }
  EXPECT_EQ(bytes_in_use(), before);
  filters().clear(top(), *event_);
  EXPECT_LT(bytes_in_use(), before);
}

TEST_F(FiltersTest, WithoutRoomTheOldFilterStays) {
  listen(event_);
  ASSERT_TRUE(set("n == 1"));
  const std::uint32_t old = program();
  fill();
  EXPECT_EQ(filters().store(*event_, "n == 2").error().code, ENOSPC);
  filters().clear(top(), *event_);
  EXPECT_EQ(program(), old) << "there is no room for a plan without it";
  EXPECT_EQ(shown().expression, "n == 1");
  emit(1), emit(2);
  EXPECT_THAT(recorded(), ElementsAre(1));
}

TEST_F(FiltersTest, OnlyFiltersForFunctionsDependOnPrograms) {
  EXPECT_FALSE(filters().uses_functions(0));
  EXPECT_FALSE(filters().uses_functions(*filters().store(*event_, "n == 2")));
  ASSERT_TRUE(set("n == 1"));
  const std::uint32_t old = program();
  filters().refresh_functions(top(), *event_);
  EXPECT_EQ(program(), old);
}

TEST_F(FiltersTest, ClearingWhereThereIsNoneMakesNothing) {
  filters().clear(top(), *event_);
  EXPECT_EQ(find_rules(*event_, top()), nullptr);
  EXPECT_THAT(event_->files.all(), IsEmpty());
}

}  // namespace
}  // namespace landtrace::rules
