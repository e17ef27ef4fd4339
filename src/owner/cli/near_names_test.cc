#include "cli/near_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(NearNamesTest, ALetterThatIsMissingOrTooManyOrAnother) {
  EXPECT_THAT(near_names("abi_requst", {"abi_request", "job"}), ElementsAre("abi_request"));
  EXPECT_THAT(near_names("reqquest", {"request"}), ElementsAre("request"));
  EXPECT_THAT(near_names("raquest", {"request"}), ElementsAre("request"));
}

TEST(NearNamesTest, NeighboursThatChangedPlacesAreOneMistake) {
  EXPECT_THAT(near_names("jbo", {"job", "xyz"}), ElementsAre("job"));
  EXPECT_THAT(near_names("recrod", {"record", "report"}), ElementsAre("record"));
}

TEST(NearNamesTest, CaseIsNoMistake) { EXPECT_THAT(near_names("JOB", {"job"}), ElementsAre("job")); }

TEST(NearNamesTest, ACompilersCopiesAreNearToTheirFunction) {
  EXPECT_THAT(near_names("work", {"work.constprop.0", "works", "worker.isra.0"}),
              ElementsAre("work.constprop.0", "works"));
  EXPECT_THAT(near_names("", {".text", "."}), IsEmpty());
}

TEST(NearNamesTest, TheNearestComeFirstAndThereAreThree) {
  EXPECT_THAT(near_names("request", {"requ", "requests", "request1x", "equest", "reqeusts"}),
              ElementsAre("equest", "requests", "reqeusts"));
}

TEST(NearNamesTest, WhatIsSomethingElseIsNotNear) {
  EXPECT_THAT(near_names("job", {"http", "j", "jobs_of_all"}), IsEmpty());
  EXPECT_THAT(near_names("a", {"b"}), IsEmpty()) << "each letter is another";
  EXPECT_THAT(near_names("", {"", "a"}), IsEmpty());
  EXPECT_THAT(near_names(std::string(300, 'x'), {std::string(300, 'x')}), SizeIs(0)) << "too long to have been typed";
}

TEST(NearNamesTest, TheyAreSaidInASentence) {
  EXPECT_EQ(alternatives({"a"}), "a");
  EXPECT_EQ(alternatives({"a", "b"}), "a or b");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(did_you_mean("jbo", {"job", "http"}), "; did you mean job?");
  EXPECT_EQ(did_you_mean("jbo", {"http"}), "");
}

}  // namespace
}  // namespace landtrace::cli
