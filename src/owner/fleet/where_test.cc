#include "fleet/where.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

const Labels& web_a() {
  static const Labels labels{{"host", "web-1"}, {"role", "web"}, {"zone", "a"}, {"none", ""}};
  return labels;
}

bool holds(const std::string& text) {
  const auto where = Where::parse(text);
  EXPECT_TRUE(where) << text << ": " << where.error().message;
  return where && where->matches(web_a());
}

std::string refusal_of_where(const std::string& text) {
  const auto where = Where::parse(text);
  return where ? "" : where.error().message;
}

TEST(WhereTest, NothingIsEveryHost) {
  EXPECT_TRUE(holds(""));
  EXPECT_TRUE(holds("  "));
  EXPECT_TRUE(Where().matches({}));
}

TEST(WhereTest, ALabelIsComparedAsAWhole) {
  EXPECT_TRUE(holds("role=web"));
  EXPECT_TRUE(holds("role==web"));
  EXPECT_TRUE(holds(" role = web "));
  EXPECT_FALSE(holds("role=we"));
  EXPECT_FALSE(holds("role!=web"));
  EXPECT_TRUE(holds("role!=db"));
}

TEST(WhereTest, ValuesAreGlobs) {
  EXPECT_TRUE(holds("host=web-*"));
  EXPECT_TRUE(holds("host=web-[0-9]"));
  EXPECT_TRUE(holds("host=\"web-?\""));
  EXPECT_FALSE(holds("host!=w*"));
  EXPECT_FALSE(holds("host='WEB-*'"));
}

TEST(WhereTest, AMissingLabelIsEmptyAndNotThere) {
  EXPECT_TRUE(holds("rack!=x"));
  EXPECT_FALSE(holds("rack=x"));
  EXPECT_TRUE(holds("rack=''"));
  EXPECT_FALSE(holds("rack"));
  EXPECT_TRUE(holds("none"));
  EXPECT_TRUE(holds("role"));
}

TEST(WhereTest, AndIsBeforeOr) {
  EXPECT_TRUE(holds("role=web || role=db && zone=b"));
  EXPECT_FALSE(holds("(role=web || role=db) && zone=b"));
  EXPECT_TRUE(holds("zone=b && role=db || role=web"));
  EXPECT_FALSE(holds("role=web&&zone=b"));
  EXPECT_TRUE(holds("role=web&&zone=a"));
}

TEST(WhereTest, NotIsOfWhatFollowsIt) {
  EXPECT_FALSE(holds("!role=web"));
  EXPECT_TRUE(holds("!!role=web"));
  EXPECT_TRUE(holds("!zone=b && role=web"));
  EXPECT_TRUE(holds("!(zone=b && role=web)"));
  EXPECT_FALSE(holds("!(zone=b || role=web)"));
  EXPECT_TRUE(holds("!rack"));
}

TEST(WhereTest, AMistakeIsPointedAt) {
  EXPECT_EQ(refusal_of_where("role=web &&"), "--where: want the name of a label here\n  role=web &&\n             ^");
  EXPECT_EQ(refusal_of_where("role="), "--where: want a value here; \"\" is none\n  role=\n       ^");
  EXPECT_EQ(refusal_of_where("role='web"), "--where: this quote does not end\n  role='web\n       ^");
  EXPECT_EQ(refusal_of_where("(role=web"), "--where: want ) here\n  (role=web\n           ^");
  EXPECT_EQ(refusal_of_where("role=web zone=a"), "--where: want && or || here\n  role=web zone=a\n           ^");
  EXPECT_EQ(refusal_of_where("role=web)"), "--where: want && or || here\n  role=web)\n          ^");
  EXPECT_EQ(refusal_of_where("=web"), "--where: want the name of a label here\n  =web\n  ^");
}

TEST(WhereTest, ParenthesesHaveAnEnd) {
  EXPECT_TRUE(holds(std::string(60, '(') + "role=web" + std::string(60, ')')));
  EXPECT_NE(refusal_of_where(std::string(100'000, '(')), "");
}

}  // namespace
}  // namespace landtrace::fleet
