#include <gmock/gmock.h>

#include "cli/test_domain.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class ListTest : public DomainTest {
 protected:
  // A recording with one event of ours and one of the kernel's own.
  std::string recording() {
    const std::string path = dir_.file("t.dat");
    output::TraceDatWriter writer = output::create_writer(path, 1);
    writer.add_event(output::make_type(1, "job u32 n"));
    output::EventType own = output::make_type(2, "print u32 n");
    own.system = "ftrace";
    writer.add_event(own);
    EXPECT_TRUE(writer.append(output::number_record(1, 0, 1)));
    EXPECT_TRUE(writer.finish());
    return path;
  }
};

TEST_F(ListTest, EventsOfADomainHaveTheirFields) {
  make_event("job u32 n; __data_loc char[] name");
  make_event("bare");
  const Outcome list = run(add_list, {"list"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, HasSubstr("user_events:job  u32 n"));
  EXPECT_THAT(list.out, HasSubstr("user_events:bare\n"));
}

TEST_F(ListTest, AnEventThatIsListenedToIsMarked) {
  make_event("job u32 n");
  EXPECT_THAT(run(add_list, {"list"}).out, Not(HasSubstr("[enabled]")));
  EXPECT_EQ(run(add_write, {"write", "events/user_events/job/enable", "1"}).status, 0);
  EXPECT_THAT(run(add_list, {"list"}).out, HasSubstr("  [enabled]\n"));
}

TEST_F(ListTest, FormatsArePrintedWhereTheyAreAskedFor) {
  make_event("job u32 n");
  EXPECT_THAT(run(add_list, {"list", "-v"}).out, HasSubstr("name: job\nID: "));
  EXPECT_THAT(run(add_list, {"list"}).out, Not(HasSubstr("name: job")));
}

TEST_F(ListTest, ARecordingHasTheProgramsEvents) {
  const std::string path = recording();
  const Outcome list = run(add_list, {"list", path.c_str()});
  EXPECT_EQ(list.status, 0);
  EXPECT_EQ(list.out, "user_events:job  u32 n\n");
  EXPECT_THAT(run(add_list, {"list", "-v", path.c_str()}).out, HasSubstr("name: job\nID: 1\n"));
}

TEST_F(ListTest, ARecordingAndADomainExcludeEachOther) {
  const Outcome list = run(add_list, {"list", "file", "--socket", "/s"});
  EXPECT_EQ(list.status, 2);
  EXPECT_THAT(list.err, HasSubstr("exclude each other"));
}

TEST_F(ListTest, WhatIsNotThereIsNamed) {
  const Outcome file = run(add_list, {"list", "/nowhere/t.dat"});
  EXPECT_EQ(file.status, 1);
  EXPECT_THAT(file.err, HasSubstr("/nowhere/t.dat"));
  const Outcome domain = run(add_list, {"list", "--socket", "/nowhere/s"});
  EXPECT_EQ(domain.status, 1);
  EXPECT_THAT(domain.err, HasSubstr("no domain runs at /nowhere/s"));
}

}  // namespace
}  // namespace landtrace::cli
