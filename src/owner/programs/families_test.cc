#include "programs/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::programs {

bool operator==(const Descendant& a, const Descendant& b) {
  return a.ancestor == b.ancestor && a.pid == b.pid && a.start_ticks == b.start_ticks;
}
void PrintTo(const Descendant& descendant, std::ostream* out) {
  *out << descendant.pid << " of " << descendant.ancestor << " since " << descendant.start_ticks;
}

namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Image kOurs{0x1000, 0x2000, 0x7000}, kAnother{0x1000, 0x2000, 0x8000}, kUnknown{};
constexpr std::uint32_t kInit = 1;

TaskStat forked(std::uint32_t pid, std::uint32_t parent, Image image = kOurs) {
  return {pid, parent, true, 100 + pid, image};
}
TaskStat called_exec(std::uint32_t pid, std::uint32_t parent, Image image = kOurs) {
  return {pid, parent, false, 100 + pid, image};
}
Ancestor root() { return {kOurs, true}; }
Ancestor fork_itself() { return {kOurs, false}; }

TEST(FamiliesTest, ChildrenDescendFromTheirParent) {
  const auto found =
      find_descendants({{10, root()}, {30, {kAnother, true}}},
                       {called_exec(10, kInit), forked(11, 10), forked(12, 10), forked(31, 30, kAnother)});
  EXPECT_THAT(found, UnorderedElementsAre(Descendant{10, 11, 111}, Descendant{10, 12, 112}, Descendant{30, 31, 131}));
}

TEST(FamiliesTest, AProcessThatCalledExecIsNobodysDescendant) {
  EXPECT_THAT(
      find_descendants({{10, root()}}, {called_exec(10, kInit), called_exec(11, 10), called_exec(12, 10, kAnother)}),
      IsEmpty());
}

TEST(FamiliesTest, AnImageThatIsAnotherOrNotKnownSaysNo) {
  EXPECT_THAT(find_descendants({{10, root()}}, {forked(11, 10, kAnother), forked(12, 10, kUnknown)}), IsEmpty());
  EXPECT_THAT(find_descendants({{10, {kUnknown, true}}}, {forked(11, 10, kUnknown)}), IsEmpty());
}

TEST(FamiliesTest, GrandchildrenAreFoundThroughTheirLivingParents) {
  EXPECT_THAT(find_descendants({{10, fork_itself()}}, {forked(10, 9), forked(11, 10), forked(12, 11), forked(13, 12)}),
              UnorderedElementsAre(Descendant{10, 11, 111}, Descendant{10, 12, 112}, Descendant{10, 13, 113}));
}

TEST(FamiliesTest, TheNearestAncestorCountsAndAncestorsAreNotFoundThemselves) {
  EXPECT_THAT(
      find_descendants({{10, root()}, {11, fork_itself()}}, {called_exec(10, kInit), forked(11, 10), forked(12, 11)}),
      UnorderedElementsAre(Descendant{11, 12, 112}));
}

TEST(FamiliesTest, AnOrphanDescendsFromTheRootWithItsImage) {
  EXPECT_THAT(find_descendants({{10, root()}, {30, {kAnother, true}}}, {called_exec(10, 9), forked(12, kInit)}),
              UnorderedElementsAre(Descendant{10, 12, 112}));
}

TEST(FamiliesTest, AnOrphanMayBeASiblingOfAnAncestorThatWasForkedItself) {
  EXPECT_THAT(find_descendants({{10, fork_itself()}}, {forked(10, 9), forked(12, kInit)}), IsEmpty());
}

TEST(FamiliesTest, AChainOfParentsEndsAtAProgramThatCalledExec) {
  EXPECT_THAT(find_descendants({{10, fork_itself()}}, {forked(10, 9), called_exec(11, 10), forked(12, 11)}), IsEmpty());
  EXPECT_THAT(find_descendants({{10, fork_itself()}}, {forked(10, 9), forked(11, 10, kAnother), forked(12, 11)}),
              IsEmpty());
}

TEST(FamiliesTest, ChildrenOfAnotherThatRunsTheSameProgramInTheSamePlaceAreItsOwn) {
  EXPECT_THAT(find_descendants({{10, root()}}, {called_exec(10, kInit), called_exec(20, kInit), forked(21, 20),
                                                forked(22, 21), forked(11, 10)}),
              UnorderedElementsAre(Descendant{10, 11, 111}));
}

TEST(FamiliesTest, AParentWhosePidAnotherProgramHasByNowIsNoAncestor) {
  EXPECT_THAT(find_descendants({{10, {kAnother, true}}}, {forked(11, 10)}), IsEmpty());
}

TEST(FamiliesTest, ParentsThatFormARingEndTheSearch) {
  EXPECT_THAT(find_descendants({{10, fork_itself()}}, {forked(20, 21), forked(21, 20)}), IsEmpty());
}

}  // namespace
}  // namespace landtrace::programs
