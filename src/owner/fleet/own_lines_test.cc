#include "fleet/own_lines.hpp"

#include <gtest/gtest.h>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

std::string kept(const std::string& host, const std::string& message) {
  return own_lines(lines_subject("system", host, "o"), message).text;
}
std::uint64_t foreign(const std::string& host, const std::string& message) {
  return own_lines(lines_subject("system", host, "o"), message).foreign;
}

TEST(OwnLinesTest, AHostSpeaksForItself) {
  const std::string message =
      "10:31:07.123456 web-1 service-1 request: id=1\n"
      "10:31:07.123457 web-1 service-1 <user stack trace>\n"
      " => handle+0x1f [/usr/bin/service]\n"
      " => main\n"
      "10:31:07.123459 web-1 CPU:0 [LOST 3 EVENTS]\n";
  EXPECT_EQ(kept("web-1", message), message);
  EXPECT_EQ(foreign("web-1", message), 0u);
  EXPECT_EQ(kept("web-1", "10:31:07.123456 web-1 x"), "10:31:07.123456 web-1 x\n") << "what is cut off";
}

TEST(OwnLinesTest, AndForNoOther) {
  const std::string message =
      "10:31:07.123456 web-1 a\n"
      "10:31:07.123456 db-1 b\n"
      " => of db-1\n"
      "10:31:07.123456 web-10 c\n"
      "10:31:07.123456 web d\n"
      "10:31:07.123456 web-1\n"
      "10:31:07.123456 web-1 e\n";
  EXPECT_EQ(kept("web-1", message), "10:31:07.123456 web-1 a\n10:31:07.123456 web-1 e\n");
  EXPECT_EQ(foreign("web-1", message), 5u);
}

TEST(OwnLinesTest, NamesMayHaveWhatSubjectsHaveNot) {
  EXPECT_EQ(foreign("a b.c*", "10:31:07.123456 a b.c* x\n"), 0u);
  EXPECT_EQ(foreign("a b", "10:31:07.123456 a x\n"), 1u);
  EXPECT_EQ(foreign("a", "10:31:07.123456 a%20 x\n"), 1u);
}

TEST(OwnLinesTest, WhatIsNoLineIsNone) {
  for (const char* const line : {"x\n", "\n", " => of nothing\n", "10:31:07.12345\x1b web-1 x\n", " web-1 x\n",
                                 "10:31:07.123456\tweb-1 x\n", "10:31:07.123456"}) {
    EXPECT_EQ(foreign("web-1", line), 1u) << line;
  }
  EXPECT_EQ(foreign("web-1", ""), 0u);
}

std::string taken(ToldLines& told, std::size_t most_bytes) {
  const ToldLines some = take_lines(told, most_bytes);
  EXPECT_EQ(some.subject, told.subject);
  return std::to_string(some.before) + ":" + some.lines;
}

TEST(OwnLinesTest, WhatIsTooMuchForAMessageIsToldInSeveral) {
  ToldLines told{"s", "a\nbb\nccc\n", 7};
  EXPECT_EQ(taken(told, 5), "7:a\nbb\n");
  EXPECT_EQ(taken(told, 5), "9:ccc\n");
  EXPECT_TRUE(told.lines.empty());
  EXPECT_EQ(taken(told, 5), "10:") << "also that there is no other one is told";
}

TEST(OwnLinesTest, ALineThatIsTooLongIsMissedByWhoeverHearsTheNextOne) {
  ToldLines told{"s", "long long\na\nlong long\nlong long\n", 0};
  EXPECT_EQ(taken(told, 5), "1:a\n");
  EXPECT_EQ(taken(told, 5), "4:");
  EXPECT_TRUE(told.lines.empty());
}

TEST(MissingLinesTest, AreThoseThatWereThereBefore) {
  MissingLines missing;
  EXPECT_EQ(missing.before("a", 0, "1\n2\n"), 0u);
  EXPECT_EQ(missing.before("a", 2, "3\n"), 0u);
  EXPECT_EQ(missing.before("a", 13, ""), 10u);
  EXPECT_EQ(missing.before("a", 13, "14\n"), 0u);
  EXPECT_EQ(missing.before("b", 1, "2\n"), 1u) << "the first ones, of another host";
}

TEST(MissingLinesTest, AnAgentThatWasStartedAnewCountsAnew) {
  MissingLines missing;
  missing.before("a", 100, "");
  EXPECT_EQ(missing.before("a", 0, "1\n"), 0u);
  EXPECT_EQ(missing.before("a", 3, "4\n"), 2u);
}

}  // namespace
}  // namespace landtrace::fleet
