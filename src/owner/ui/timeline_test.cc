#include "ui/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class TimelineTest : public testing::Test {
 protected:
  std::string part(std::uint64_t from, std::uint64_t to, std::size_t columns = 10) {
    return timeline(recent_, {from, to, columns}, [](std::int32_t tid) {
      return tid == 7 ? ThreadName{6, "a\"b"} : ThreadName{5, "c"};
    });
  }

  Recent recent_;
};

TEST_F(TimelineTest, FewEventsAreToldOneByOne) {
  recent_.add("line \"1\"", 100, 7, 3);
  recent_.add("line 2", 150, 9, 4);
  recent_.add_lost("CPU:0 [LOST 5 EVENTS]", 5);
  recent_.add("line 3", 200, 9, 4);
  EXPECT_EQ(part(90, 200), R"({"first":100,"last":200,"from":90,"to":200,"lanes":[[9,5,"c"],[7,6,"a\"b"]],)"
                           R"("events":[[10,1,3,"line \"1\""],[60,0,4,"line 2"]],"lost":[[60,5]]})");
}

TEST_F(TimelineTest, WithoutAnEndItIsTheNewest) {
  recent_.add("old", 100, 7, 0);
  recent_.add("new", 1000, 7, 0);
  EXPECT_THAT(part(50, 0), HasSubstr(R"("from":951,"to":1001,)"));
  EXPECT_THAT(part(50, 0), HasSubstr(R"("events":[[49,0,0,"new"]])"));
  EXPECT_THAT(part(5000, 0), HasSubstr(R"("from":0,"to":1001,)"));
}

TEST_F(TimelineTest, NothingIsNoMistake) {
  EXPECT_EQ(part(5, 5), R"({"first":0,"last":0,"from":5,"to":6,"lanes":[],"events":[],"lost":[]})");
}

TEST_F(TimelineTest, LinesStandInItWhereTheyAreFew) {
  for (std::uint64_t i = 0; i < 300; ++i) recent_.add("TEXT", i, 7, 0);
  EXPECT_THAT(part(0, 300), HasSubstr("TEXT"));
  recent_.add("TEXT", 300, 7, 0);
  EXPECT_THAT(part(0, 301), Not(HasSubstr("TEXT")));
  EXPECT_THAT(part(0, 301), HasSubstr("[300,0,0]]"));
}

TEST_F(TimelineTest, UpTo1500EventsAreFew) {
  for (std::uint64_t i = 0; i < 1500; ++i) recent_.add("x", i, 7, 0);
  EXPECT_THAT(part(0, 1500), HasSubstr(R"("events":[[0,0,0],[1,0,0],)"));
  recent_.add("x", 1500, 7, 0);
  EXPECT_THAT(part(0, 1501), HasSubstr(R"("counts":[)"));
}

TEST_F(TimelineTest, ManyEventsAreCountedByColumnAndLane) {
  for (std::uint64_t i = 0; i < 2000; ++i) recent_.add("x", i, i < 1000 ? 7 : 9, 0);
  EXPECT_THAT(part(0, 2000, 4), EndsWith(R"("columns":4,"counts":[[2,0,500],[3,0,500],)"
                                         R"([0,1,500],[1,1,500]],"lost":[]})"));
  EXPECT_THAT(part(0, 2000, 0), HasSubstr(R"("columns":1,"counts":[[0,0,1000],[0,1,1000]])"));
  EXPECT_THAT(part(0, 2000, 1'000'000), HasSubstr(R"("columns":2000,)"));
}

TEST_F(TimelineTest, TheThreadsWithTheMostEventsHaveLanes) {
  for (std::int32_t tid = 100; tid < 130; ++tid) {
    for (std::int32_t i = 0; i < tid; ++i) recent_.add("x", 1000, tid, 0);
  }
  const std::string told = part(0, 2000, 1);
  EXPECT_THAT(told, HasSubstr(R"("lanes":[[106,5,"c"],[107,)"));
  EXPECT_THAT(told, HasSubstr(R"([129,5,"c"]],"columns":1,"counts":[[0,0,106],)"));
  EXPECT_THAT(part(1001, 2000), HasSubstr(R"("lanes":[],)"));
}

}  // namespace
}  // namespace landtrace::ui
