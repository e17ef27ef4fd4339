#include "fleet/subjects.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(SubjectsTest, ATextIsOnePart) {
  EXPECT_EQ(part_of_subject("web-1_a"), "web-1_a");
  EXPECT_EQ(part_of_subject("a.b c*>%"), "a%2Eb%20c%2A%3E%25");
  EXPECT_EQ(part_of_subject("\xff"), "%FF");
  EXPECT_EQ(part_of_subject(""), "%") << "a part is never empty";
}

TEST(SubjectsTest, AFrameHasItsHistogramsSubject) {
  Frame frame;
  frame.host = "web-1.example";
  frame.domain = "system";
  frame.order = "o1";
  frame.generation = 42;
  frame.event = "u:e";
  EXPECT_EQ(subject_of(frame), "landtrace.system.web-1%2Eexample.hist.o1.42.u%3Ae");
  EXPECT_EQ(frames_of("o1"), "landtrace.*.*.hist.o1.>");
}

TEST(SubjectsTest, LinesAreOfAnOrder) {
  EXPECT_EQ(lines_subject("system", "a.b", "o1"), "landtrace.system.a%2Eb.lines.o1");
  EXPECT_EQ(lines_of("o1"), "landtrace.*.*.lines.o1");
}

TEST(SubjectsTest, AStatusHasItsHosts) {
  Status status;
  status.host = "web-1";
  status.domain = "user-0";
  EXPECT_EQ(subject_of(status), "landtrace.user-0.web-1.status");
}

}  // namespace
}  // namespace landtrace::fleet
