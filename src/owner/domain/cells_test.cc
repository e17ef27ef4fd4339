#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "domain/domain.hpp"

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kUsers = 20;

class CellsTest : public testing::Test {
 protected:
  CellsTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})) {
    for (std::uint32_t uid = 0; uid < kUsers; ++uid) {
      EXPECT_TRUE(domain_->join(uid));
      everybodys_ = *domain_->registrar().register_native("everybodys u32 x", 0, uid);
    }
  }
  // Which any of the users may change.
  std::uint32_t take_counter() {
    const std::uint32_t cell = *cells().take_counter();
    cells().add_writer(cell, everybodys_);
    return cell;
  }
  std::uint32_t take_switch(bool thrown) {
    const std::uint32_t cell = *cells().take_switch(thrown);
    cells().add_writer(cell, everybodys_);
    return cell;
  }
  void throw_by(std::uint32_t user, std::uint32_t cell) {
    plan::throw_now(cell_of(user, cell), true, arch::read_raw_clock(arch::best_raw_clock()));
  }
  plan::Cell& cell_of(std::uint32_t user, std::uint32_t cell) {
    return domain_->users().all()[user].data().cells[cell];
  }
  Cells& cells() { return domain_->cells(); }

  std::unique_ptr<Domain> domain_;
  std::uint32_t everybodys_ = 0;              // an event
  Domain::Access access_ = domain_->enter();  // the domain has a thread that spreads, too
};

TEST_F(CellsTest, EachUserIsToldWhatAllOthersCounted) {
  const std::uint32_t cell = take_counter();
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    for (std::uint32_t i = 0; i <= user; ++i) plan::count(cell_of(user, cell));
  }
  cells().count_one_more(cell);
  constexpr std::uint64_t kAll = kUsers * (kUsers + 1) / 2 + 1;
  EXPECT_EQ(cells().count_of(cell), kAll);
  for (std::uint32_t user = 0; user < kUsers; ++user) EXPECT_EQ(plan::counted(cell_of(user, cell)), kAll) << user;
}

TEST_F(CellsTest, WhoComesLaterKnowsWhatWasCountedAndThrown) {
  const std::uint32_t counter = take_counter();
  const std::uint32_t thrown = take_switch(true);
  plan::count(cell_of(3, counter));
  const std::uint32_t user = *domain_->join(kUsers);
  EXPECT_EQ(plan::counted(cell_of(user, counter)), 1u);
  EXPECT_TRUE(plan::is_thrown(cell_of(user, thrown)));
}

// A limit holds for all users together; while they count, none is told more than there was, nor ever less than before.
TEST_F(CellsTest, WhatUsersAreToldNeverExceedsWhatWasCounted) {
  const std::uint32_t cell = take_counter();
  std::atomic<bool> is_over{false};
  std::vector<std::thread> producers;
  for (const std::uint32_t user : {0u, 7u}) {
    producers.emplace_back([&, user] {
      while (!is_over) plan::count(cell_of(user, cell));
    });
  }
  std::uint64_t told_before = 0;
  for (int round = 0; round < 2000; ++round) {
    cells().spread();
    const std::uint64_t told = plan::counted(cell_of(1, cell));
    EXPECT_GE(told, told_before);
    EXPECT_LE(told, cells().count_of(cell));
    told_before = told;
  }
  is_over = true;
  for (std::thread& producer : producers) producer.join();
  cells().spread();
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    EXPECT_EQ(plan::counted(cell_of(user, cell)), cells().count_of(cell)) << user;
  }
}

TEST_F(CellsTest, TheNewestThrowReachesEverybody) {
  const std::uint32_t cell = take_switch(false);
  throw_by(5, cell);
  cells().spread();
  for (std::uint32_t user = 0; user < kUsers; ++user) EXPECT_TRUE(plan::is_thrown(cell_of(user, cell))) << user;
  cells().set_switch(cell, false);
  for (std::uint32_t user = 0; user < kUsers; ++user) EXPECT_FALSE(plan::is_thrown(cell_of(user, cell))) << user;
}

// Who runs the domain is trusted: user 0.
TEST_F(CellsTest, AGuestThrowsOnlyWhatATriggerThrows) {
  const std::uint32_t cell = *cells().take_switch(false);
  throw_by(5, cell);
  plan::throw_now(cell_of(7, cell), true, ~0ull >> 1);
  cells().spread();
  EXPECT_FALSE(cells().is_thrown(cell));
  EXPECT_FALSE(plan::is_thrown(cell_of(6, cell)));
  cells().add_writer(cell, everybodys_);
  cells().spread();
  EXPECT_FALSE(cells().is_thrown(cell)) << "what was thrown before there was a trigger";
  throw_by(6, cell);
  cells().spread();
  EXPECT_TRUE(cells().is_thrown(cell));
  EXPECT_TRUE(plan::is_thrown(cell_of(0, cell)));
  const std::uint32_t nobodys = *cells().take_switch(false);
  throw_by(0, nobodys);
  EXPECT_TRUE(cells().is_thrown(nobodys));
}

TEST_F(CellsTest, AGuestCountsOnlyWhatATriggerCounts) {
  const std::uint32_t cell = *cells().take_counter();
  plan::count(cell_of(5, cell));
  cells().spread();
  EXPECT_EQ(cells().count_of(cell), 0u);
  cells().add_writer(cell, everybodys_);
  for (const std::uint32_t user : {0u, 6u}) plan::count(cell_of(user, cell));
  cells().spread();
  EXPECT_EQ(cells().count_of(cell), 3u);
  EXPECT_EQ(plan::counted(cell_of(0, cell)), 3u);
  cells().drop_writer(cell, everybodys_);
  plan::count(cell_of(6, cell));
  cells().spread();
  EXPECT_EQ(cells().count_of(cell), 3u) << "what was counted stays, and no more comes";
}

TEST_F(CellsTest, WhatATriggerHasThrownStaysWhenItGoes) {
  const std::uint32_t cell = *cells().take_switch(false);
  cells().add_writer(cell, everybodys_);
  throw_by(6, cell);
  cells().drop_writer(cell, everybodys_);
  EXPECT_TRUE(cells().is_thrown(cell));
  cells().set_switch(cell, false);
  throw_by(6, cell);
  EXPECT_FALSE(cells().is_thrown(cell)) << "there is no such trigger any more";
}

}  // namespace
}  // namespace landtrace::domain
