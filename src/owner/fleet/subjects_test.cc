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

TEST(SubjectsTest, AStatusIsOfItsSubjectsHost) {
  Status status;
  status.host = "web.1";
  status.domain = "system";
  EXPECT_EQ(*status_in("landtrace.system.web%2E1.status", json_of(status)), status);
  for (const char* const other : {"landtrace.system.web-1.status", "landtrace.user-0.web%2E1.status", ""}) {
    EXPECT_FALSE(status_in(other, json_of(status))) << other;
  }
  EXPECT_FALSE(status_in("landtrace.system.web%2E1.status", "nonsense"));
}

TEST(SubjectsTest, AStatusHasAHostAndADomain) {
  Status status;
  status.host = "web-1";
  EXPECT_FALSE(status_in(subject_of(status), json_of(status))) << "no domain";
  status.domain = "system";
  status.host = "";
  EXPECT_FALSE(status_in(subject_of(status), json_of(status))) << "no host";
}

TEST(SubjectsTest, OfASnapshotAllHavePartsOfTheirHost) {
  EXPECT_EQ(snapshot_subject("system", "web.1", "o1"), "landtrace.system.web%2E1.snapshot.o1");
  EXPECT_EQ(snapshots_of("o1"), "landtrace.*.*.snapshot.o1.*");
  EXPECT_EQ(clock_subject("system", "web.1", "o1"), "landtrace.system.web%2E1.clock.o1");
  EXPECT_EQ(clocks_of("o1"), "landtrace.*.*.clock.o1");
}

TEST(SubjectsTest, APartIsBelowItsFrame) {
  Frame frame;
  frame.host = "web.1";
  frame.domain = "system";
  frame.order = "o";
  frame.event = "u.e:7";
  const std::string whole = subject_of(frame);
  EXPECT_TRUE(is_frame_subject(whole));
  EXPECT_EQ(whole_of(whole), std::nullopt);
  const std::string part = part_subject(whole, 12);
  EXPECT_EQ(part, whole + ".12");
  EXPECT_FALSE(is_frame_subject(part));
  EXPECT_EQ(whole_of(part), whole);
  EXPECT_EQ(host_part(part), "web%2E1");
  for (const char* const other : {"", "a.b", "landtrace.system.a.status", "landtrace.system.a.lines.hist.a.b.c"}) {
    EXPECT_FALSE(is_frame_subject(other));
    EXPECT_EQ(whole_of(other), std::nullopt);
  }
  EXPECT_EQ(host_part("a.b"), "");
}

TEST(SubjectsTest, AHostIsCalledAsItCallsItself) {
  for (const char* const name : {"web", "web.example.com", "a b%20", "\x1b[2J", "", "100%"}) {
    EXPECT_EQ(host_in(lines_subject("system", name, "o")), name[0] == '\0' ? "%" : name);
  }
  for (const char* const odd : {"%", "%2", "%2G", "a%", "%%2"}) {
    EXPECT_EQ(host_in("landtrace.d." + std::string(odd) + ".lines.o"), odd);
  }
  EXPECT_EQ(host_in("a.b"), "");
}

TEST(SubjectsTest, AFrameIsOfItsSubjectsHistogram) {
  Frame frame;
  frame.host = "a";
  frame.domain = "system";
  frame.order = "o";
  frame.generation = 1;
  frame.event = "u:e";
  const std::string subject = subject_of(frame);
  EXPECT_TRUE(check_subject(subject, frame));
  for (std::string Frame::*const text : {&Frame::host, &Frame::domain, &Frame::order, &Frame::event}) {
    Frame other = frame;
    other.*text += "x";
    EXPECT_FALSE(check_subject(subject, other));
  }
  frame.generation = 2;
  EXPECT_FALSE(check_subject(subject, frame));
}

}  // namespace
}  // namespace landtrace::fleet
