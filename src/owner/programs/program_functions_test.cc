// The test looks for functions of its own, and of its children.
#include "programs/program_functions.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "programs/task.hpp"
#include "programs/test_child.hpp"
#include "programs/test_self.hpp"

namespace landtrace::programs {

[[gnu::noinline]] int looked_for_by_the_test(int n) { return n * 3 + ::getppid(); }
constexpr const char* kName = "landtrace::programs::looked_for_by_the_test";

namespace {

std::uint64_t begin_of_it() { return reinterpret_cast<std::uint64_t>(&looked_for_by_the_test); }

class ProgramFunctionsTest : public testing::Test {
 protected:
  static bool has(const std::vector<filter::FunctionRange>& ranges, std::uint32_t pid) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const filter::FunctionRange& range) {
      return range.process == pid && range.begin == begin_of_it() && range.end > range.begin + 1;
    });
  }
  ProgramFunctions functions_{::geteuid()};
};

TEST_F(ProgramFunctionsTest, NothingIsKnownOfProgramsThatHaveNotCome) {
  EXPECT_TRUE(functions_.named(kName).empty());
  EXPECT_TRUE(functions_.holding(begin_of_it()).empty());
  EXPECT_FALSE(functions_.at(begin_of_it()));
}

TEST_F(ProgramFunctionsTest, AFunctionIsFoundByItsNameInEveryProgramThatHasIt) {
  const TestChild child;
  functions_.add(me());
  functions_.add(child.pid());
  functions_.add(me());
  const auto ranges = functions_.named(kName);
  EXPECT_EQ(ranges.size(), 2u);
  EXPECT_TRUE(has(ranges, me()));
  EXPECT_TRUE(has(ranges, child.pid()));
  EXPECT_TRUE(functions_.named("no_function_has_such_a_name").empty());
}

// Which its folder in /proc does not say of one that cannot be dumped.
TEST_F(ProgramFunctionsTest, WhatAnotherUserHasMappedIsNotOpened) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  for (const int dumpable : {1, 0}) {
    const TestChild nobodys([dumpable] {
      become_user(kNobody.uid);
      ::prctl(PR_SET_DUMPABLE, dumpable);
    });
    EXPECT_EQ(user_of(nobodys.pid()), kNobody.uid);
    ProgramFunctions functions{0};
    functions.add(nobodys.pid());
    EXPECT_TRUE(functions.named(kName).empty()) << dumpable;
  }
}

TEST_F(ProgramFunctionsTest, AFunctionIsFoundByAnyAddressInIt) {
  functions_.add(me());
  const auto ranges = functions_.holding(begin_of_it() + 1);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_TRUE(has(ranges, me()));
  EXPECT_TRUE(has(functions_.holding(begin_of_it()), me()));
  EXPECT_TRUE(has(functions_.holding(ranges[0].end - 1), me()));
  EXPECT_FALSE(has(functions_.holding(ranges[0].end), me()));
  EXPECT_TRUE(functions_.holding(0).empty());
}

TEST_F(ProgramFunctionsTest, AnAddressIsNamedByItsFunctionAndItsPlaceInThere) {
  functions_.add(me());
  const auto first = functions_.at(begin_of_it()), third = functions_.at(begin_of_it() + 2);
  ASSERT_TRUE(first && third);
  EXPECT_NE(first->name.find("looked_for_by_the_test"), std::string::npos);
  EXPECT_EQ(first->offset, 0u);
  EXPECT_EQ(third->name, first->name);
  EXPECT_EQ(third->offset, 2u);
  EXPECT_FALSE(functions_.at(reinterpret_cast<std::uint64_t>(this))) << "an object is no function";
}

TEST_F(ProgramFunctionsTest, FunctionsOfSharedObjectsAreFoundWhereTheProgramHasThem) {
  functions_.add(me());
  const auto holding = functions_.holding(reinterpret_cast<std::uint64_t>(&::getppid));
  ASSERT_EQ(holding.size(), 1u);
  const auto named = functions_.named("getppid");
  EXPECT_TRUE(std::any_of(named.begin(), named.end(), [&](const auto& range) {
    return range.begin == holding[0].begin && range.end == holding[0].end;
  }));
}

TEST_F(ProgramFunctionsTest, AProgramThatHasEndedIsForgotten) {
  TestChild child;
  functions_.add(child.pid());
  EXPECT_TRUE(has(functions_.named(kName), child.pid()));
  child.end();
  EXPECT_TRUE(functions_.named(kName).empty());
}

TEST_F(ProgramFunctionsTest, ManyThatHaveEndedHideNobody) {
  functions_.add(me());
  for (std::uint32_t pid = 0x70000000; pid < 0x70000000 + 1000; ++pid) functions_.add(pid);
  const auto ranges = functions_.named(kName);
  EXPECT_EQ(ranges.size(), 1u);
  EXPECT_TRUE(has(ranges, me()));
}

TEST_F(ProgramFunctionsTest, OtherUsersProgramsAreNotLookedAt) {
  ProgramFunctions of_another(::geteuid() + 1);
  of_another.add(me());
  EXPECT_TRUE(of_another.named(kName).empty());
  if (::geteuid() != 0) return;
  const TestChild nobodys([] { become_user(65534); });
  functions_.add(nobodys.pid());
  EXPECT_TRUE(functions_.named(kName).empty()) << "root opens no file that another user has chosen";
}

}  // namespace
}  // namespace landtrace::programs
