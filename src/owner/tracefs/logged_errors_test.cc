#include "tracefs/logged_errors.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace landtrace::tracefs {
namespace {

TEST(LoggedErrorsTest, PointAtWhatIsWrong) {
  LoggedErrors errors;
  errors.add({"hist:user_events:e1", "Couldn't find field", "hist:keys=zz", 10});
  const std::string text = std::regex_replace(errors.text(), std::regex("^\\[ *[0-9]+\\.[0-9]{6}\\]"), "[TS]");
  EXPECT_EQ(text,
            "[TS] hist:user_events:e1: error: Couldn't find field\n"
            "  Command: hist:keys=zz\n"
            "                     ^\n");
}

TEST(LoggedErrorsTest, KeepsTheLastEight) {
  LoggedErrors errors;
  for (int i = 0; i < 10; ++i) errors.add({"place", "what", "command " + std::to_string(i), 0});
  EXPECT_EQ(errors.text().find("command 1\n"), std::string::npos);
  EXPECT_NE(errors.text().find("command 2\n"), std::string::npos);
  EXPECT_NE(errors.text().find("command 9\n           ^\n"), std::string::npos);
  errors.clear();
  EXPECT_EQ(errors.text(), "");
}

}  // namespace
}  // namespace landtrace::tracefs
