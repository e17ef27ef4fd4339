#include "cli/private_tracefs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/environment.hpp"

namespace landtrace::cli {
namespace {

using testing::ElementsAre;

TEST(PrivateTracefsTest, ThisProgramIsStartedAgainForTheCommand) {
  EXPECT_THAT(tracefs_command("/s", Ids::kSame, {"ls", "-l", "--"}),
              ElementsAre(own_program(), "run", "--tracefs", "--socket", "/s", "--", "ls", "-l", "--"));
}

TEST(PrivateTracefsTest, TheCommandMayBelieveToBeRoot) {
  EXPECT_THAT(tracefs_command("/s", Ids::kRoot, {"id"}),
              ElementsAre(own_program(), "run", "--tracefs", "--socket", "/s", "--map-root-user", "--", "id"));
}

TEST(PrivateTracefsTest, WithoutADomainNothingIsEntered) {
  const auto entered = enter_private_tracefs("/nowhere/domain.sock", Ids::kSame);
  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().code, ENOENT);
}

}  // namespace
}  // namespace landtrace::cli
