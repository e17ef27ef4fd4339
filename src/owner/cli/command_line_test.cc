#include "cli/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using ::testing::ElementsAre;

// Parses like main() does, for a subcommand `record` with an option -e, and gives CMD.
std::vector<std::string> command_of(std::vector<const char*> words) {
  words.insert(words.begin(), "landtrace");
  const CommandLine line = split_command_line(static_cast<int>(words.size()), words.data());
  CLI::App app;
  CLI::App* const sub = app.add_subcommand("record");
  std::vector<std::string> events;
  sub->add_option("-e", events)->allow_extra_args(false);
  sub->prefix_command();
  app.parse(std::vector<std::string>(line.own.rbegin(), line.own.rend()));
  return take_command(*sub, line);
}

TEST(CommandLineTest, CommandStandsBehindTheSeparator) {
  EXPECT_THAT(command_of({"record", "-e", "a", "--", "prog", "-e", "x"}), ElementsAre("prog", "-e", "x"));
  EXPECT_THAT(command_of({"record", "--", "-dashed"}), ElementsAre("-dashed"));
}

TEST(CommandLineTest, CommandBeginsWithTheFirstWordThatIsNoOption) {
  EXPECT_THAT(command_of({"record", "-e", "a", "prog", "-e", "x"}), ElementsAre("prog", "-e", "x"));
}

TEST(CommandLineTest, LaterSeparatorsAreTheCommandsOwn) {
  EXPECT_THAT(command_of({"record", "--", "a", "--", "b"}), ElementsAre("a", "--", "b"));
  EXPECT_THAT(command_of({"record", "a", "--", "b"}), ElementsAre("a", "--", "b"));
}

TEST(CommandLineTest, NoCommand) { EXPECT_THAT(command_of({"record", "-e", "a"}), ElementsAre()); }

TEST(CommandLineTest, UnknownOptionIsNamed) {
  try {
    command_of({"record", "--bogus", "--", "prog"});
    FAIL();
  } catch (const CLI::ParseError& error) {
    EXPECT_STREQ(error.what(), "unknown option '--bogus'");
  }
}

}  // namespace
}  // namespace landtrace::cli
