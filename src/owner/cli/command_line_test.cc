#include "cli/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace landtrace::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CommandLineTest : public testing::Test {
 protected:
  // As if the program had been started with these words. What it complains about, or "".
  std::string parse(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    words.push_back(nullptr);
    const auto parsed = program_.parse(static_cast<int>(words.size() - 1), words.data());
    if (!parsed) return parsed.error().message;
    run_ = *parsed;
    return "";
  }
  Command& add_record(const char* missing = nullptr) {
    Command& command = program_.add("record", "Records");
    command.repeated("-e", events_, "Events");
    command.takes_command(command_, "program record [CMD]", missing);
    return command;
  }
  std::vector<std::string> command_of(const std::vector<const char*>& words) {
    EXPECT_EQ(parse(words), "");
    return command_;
  }

  Program program_{"program", "Does something.", "1.2.3"};
  std::vector<std::string> events_, command_, words_;
  std::string text_;
  std::uint64_t number_ = 0;
  bool flag_ = false;
  bool other_ = false;
  std::function<int()> run_;
};

TEST_F(CommandLineTest, CommandStandsBehindTheSeparator) {
  add_record();
  EXPECT_THAT(command_of({"record", "-e", "a", "--", "prog", "-e", "x"}), ElementsAre("prog", "-e", "x"));
  EXPECT_THAT(events_, ElementsAre("a"));
}

TEST_F(CommandLineTest, CommandBehindTheSeparatorMayBeginWithADash) {
  add_record();
  EXPECT_THAT(command_of({"record", "--", "-dashed"}), ElementsAre("-dashed"));
}

TEST_F(CommandLineTest, CommandBeginsWithTheFirstWordThatIsNoOption) {
  add_record();
  EXPECT_THAT(command_of({"record", "-e", "a", "prog", "-e", "x"}), ElementsAre("prog", "-e", "x"));
}

TEST_F(CommandLineTest, LaterSeparatorsAreTheCommandsOwn) {
  add_record();
  EXPECT_THAT(command_of({"record", "--", "a", "--", "b"}), ElementsAre("a", "--", "b"));
}

TEST_F(CommandLineTest, ASeparatorBehindTheCommandIsTheCommandsOwn) {
  add_record();
  EXPECT_THAT(command_of({"record", "a", "--", "b"}), ElementsAre("a", "--", "b"));
}

TEST_F(CommandLineTest, NoCommand) {
  add_record();
  EXPECT_THAT(command_of({"record", "-e", "a"}), ElementsAre());
  EXPECT_THAT(command_of({"record", "-e", "a", "--"}), ElementsAre());
}

TEST_F(CommandLineTest, AMissingCommandIsSaidWhereOneIsNeeded) {
  add_record("no command to run");
  EXPECT_EQ(parse({"record", "-e", "a"}), "no command to run");
  EXPECT_EQ(parse({"record", "--", "prog"}), "");
}

TEST_F(CommandLineTest, UnknownOptionIsNamed) {
  add_record();
  EXPECT_EQ(parse({"record", "--bogus", "--", "prog"}), "unknown option '--bogus'");
}

TEST_F(CommandLineTest, NothingStandsBehindTheSeparatorOfACommandThatRunsNone) {
  program_.add("list", "Lists").flag("-v", flag_, "More");
  EXPECT_EQ(parse({"list", "-v", "--", "prog"}), "unexpected argument 'prog'");
  EXPECT_EQ(parse({"list", "--", "-x"}), "unknown option '-x'");
  EXPECT_EQ(parse({"list", "--"}), "unknown option '--'");
}

TEST_F(CommandLineTest, ACommandMustBeNamed) {
  program_.add("list", "Lists");
  EXPECT_EQ(parse({}), "want a command");
}

TEST_F(CommandLineTest, TheNamedCommandIsWhatRuns) {
  program_.add("one", "The first").runs([] { return 1; });
  program_.add("two", "The second").runs([] { return 2; });
  ASSERT_EQ(parse({"two"}), "");
  EXPECT_EQ(run_(), 2);
  const char* const words[] = {"program", "one"};
  EXPECT_EQ(program_.run(2, words), 1);
}

TEST_F(CommandLineTest, ValuesAreReadAsTheyWereDeclared) {
  Command& command = program_.add("hist", "Counts");
  command.option("--size", number_, "How many");
  command.option("EVENT", text_, "Which", {.required = true});
  command.list("--keys", words_, "By what");
  command.flag("--json", flag_, "For programs");
  EXPECT_EQ(parse({"hist", "--size", "7", "--json", "--keys", "a,b", "c", "job"}), "");
  EXPECT_EQ(number_, 7u);
  EXPECT_EQ(text_, "job");
  EXPECT_THAT(words_, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(flag_);
}

TEST_F(CommandLineTest, AWordMayBeRequiredUnlessAnOptionIsGiven) {
  Command& command = program_.add("hist", "Counts");
  std::string probe;
  command.option("-p,--probe", probe, "Instead");
  command.option("EVENT", text_, "Which", {.required_unless = "-p,--probe"});
  command.list("--keys", words_, "By what");
  EXPECT_EQ(parse({"hist", "--keys", "a", "b", "job"}), "");
  EXPECT_EQ(text_, "job");
  EXPECT_THAT(words_, ElementsAre("a", "b"));
  EXPECT_THAT(parse({"hist", "--keys", "a"}), HasSubstr("EVENT is required"));
  for (const std::vector<const char*>& words :
       {std::vector{"hist", "-p", "x"}, {"hist", "-px"}, {"hist", "--probe=x"}}) {
    EXPECT_EQ(parse(words), "");
    EXPECT_EQ(probe, "x");
  }
}

TEST_F(CommandLineTest, ARequiredWordAndARequiredNumberAreAskedFor) {
  Command& command = program_.add("hist", "Counts");
  command.option("--size", number_, "How many");
  command.option("EVENT", text_, "Which", {.required = true});
  EXPECT_EQ(parse({"hist"}), "EVENT is required");
  for (const char* const number : {"many", "-3", "3x", "", "99999999999999999999"}) {
    EXPECT_EQ(parse({"hist", "--size", number, "job"}),
              std::string("--size: want a whole number, not '") + number + "'");
  }
  EXPECT_EQ(parse({"hist", "job", "--size"}), "--size: want a value");
}

TEST_F(CommandLineTest, AnOptionMayStandWithoutItsValue) {
  Command& command = program_.add("ui", "Shows");
  command.option_or_flag("--fleet", flag_, text_, "Where", {.type = "[URL]", .default_text = "$FLEET"});
  command.flag("--other", other_, "Something else");
  EXPECT_EQ(parse({"ui"}), "");
  EXPECT_FALSE(flag_);
  EXPECT_EQ(parse({"ui", "--fleet", "--other"}), "");
  EXPECT_TRUE(flag_ && other_);
  EXPECT_EQ(text_, "");
  EXPECT_EQ(parse({"ui", "--fleet"}), "");
  EXPECT_EQ(text_, "");
  EXPECT_EQ(parse({"ui", "--fleet", "nats://a:1"}), "");
  EXPECT_EQ(text_, "nats://a:1");
  EXPECT_EQ(parse({"ui", "--fleet=nats://b:1"}), "");
  EXPECT_EQ(text_, "nats://b:1");
}

TEST_F(CommandLineTest, AnEmptyWordIsNoValue) {
  Command& command = add_record();
  command.option("-o,--output", text_, "Where", {.type = "FILE"});
  for (const std::vector<const char*>& words :
       {std::vector{"record", "-o", "", "prog"}, {"record", "--output=", "prog"}}) {
    EXPECT_EQ(parse(words), "-o,--output: want FILE, not an empty word");
  }
  EXPECT_EQ(parse({"record", "-e", "a", "-e", "", "prog"}), "-e: want a value, not an empty word");
  EXPECT_EQ(parse({"record", "-o", "f", "prog", ""}), "");
  EXPECT_EQ(text_, "f");
}

TEST_F(CommandLineTest, WhatMayHaveBeenMeantIsSaid) {
  add_record();
  Command& list = program_.add("list", "Lists");
  list.flag("-v,--verbose", flag_, "More");
  EXPECT_EQ(parse({"recrod"}), "there is no command 'recrod'; did you mean record?");
  EXPECT_EQ(parse({"frobnicate", "--verbose"}), "there is no command 'frobnicate'");
  EXPECT_EQ(parse({"--versoin"}), "unknown option '--versoin'; did you mean --version?");
  EXPECT_EQ(parse({"list", "--verbsoe"}), "unknown option '--verbsoe'; did you mean --verbose?");
  EXPECT_EQ(parse({"list", "file", "--verbsoe", "1"}), "unknown option '--verbsoe'; did you mean --verbose?");
  EXPECT_EQ(parse({"list", "--verbsoe=1"}), "unknown option '--verbsoe'; did you mean --verbose?");
  EXPECT_EQ(parse({"list", "a"}), "unexpected argument 'a'");
  EXPECT_EQ(parse({"record", "--hlep"}), "unknown option '--hlep'; did you mean --help?");
}

TEST_F(CommandLineTest, TheHelpOfTheCommandIsNamed) {
  add_record();
  const auto helpful = [this](std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return program_.helpful_command(static_cast<int>(words.size()), words.data());
  };
  EXPECT_EQ(helpful({}), "program");
  EXPECT_EQ(helpful({"recrod"}), "program");
  EXPECT_EQ(helpful({"record", "--bogus"}), "program record");
  EXPECT_EQ(helpful({"--bogus", "record"}), "program record");
  EXPECT_EQ(helpful({"--", "record"}), "program");
}

TEST_F(CommandLineTest, AnOptionThatNeedsAnotherIsRefusedAlone) {
  Command& command = program_.add("run", "Runs");
  bool root = false;
  command.flag("--tracefs", flag_, "With files");
  command.flag("-r", root, "As root", {.needs = "--tracefs"});
  EXPECT_EQ(parse({"run", "-r"}), "-r requires --tracefs");
  EXPECT_EQ(parse({"run", "-r", "--tracefs"}), "");
}

TEST_F(CommandLineTest, AWordBehindARepeatedListIsNoneOfItsValues) {
  Command& command = program_.add("report", "Prints");
  command.option("FILE", text_, "Which");
  command.repeated_list("--comm", words_, "Whose");
  EXPECT_EQ(parse({"report", "--comm", "a,b", "file", "--comm", "c"}), "");
  EXPECT_EQ(text_, "file");
  EXPECT_THAT(words_, ElementsAre("a", "b", "c"));
}

TEST_F(CommandLineTest, ARepeatedOptionTakesOneValueEachTime) {
  Command& command = program_.add("report", "Prints");
  command.option("FILE", text_, "Which");
  command.repeated("-e", events_, "Events");
  EXPECT_EQ(parse({"report", "-e", "a", "-e", "b,c", "file"}), "");
  EXPECT_THAT(events_, ElementsAre("a", "b,c"));
  EXPECT_EQ(text_, "file");
}

TEST_F(CommandLineTest, OptionsInOrderAreTakenAsTheyStandAcrossTheirNames) {
  Command& command = program_.add("record", "Records");
  command.in_order(
      "-e,--event", [&](const std::string& v) { words_.push_back("e " + v); }, "Events");
  command.in_order(
      "--filter", [&](const std::string& v) { words_.push_back("f " + v); }, "Filters");
  command.flag("-v", flag_, "More");
  EXPECT_EQ(parse({"record", "-e", "a", "--filter", "x", "-v", "--event", "b", "-ec", "--filter=y"}), "");
  EXPECT_THAT(words_, ElementsAre("e a", "f x", "e b", "e c", "f y"));
}

TEST_F(CommandLineTest, HelpIsWhatIsToBeDone) {
  Command& command = program_.add("list", "Lists");
  command.option("--socket", text_, "Where", {.type = "PATH", .default_text = "the user's"});
  command.flag("--secret", flag_, "Not said", {.hidden = true});
  command.examples("Examples:\n  program list");
  ASSERT_EQ(parse({"list", "--help"}), "");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_(), 0);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_THAT(help, HasSubstr("--socket PATH"));
  EXPECT_THAT(help, HasSubstr("the user's"));
  EXPECT_THAT(help, HasSubstr("Examples:\n  program list"));
  EXPECT_THAT(help, testing::Not(HasSubstr("secret")));
}

TEST_F(CommandLineTest, HelpOfACommandThatTakesOneBeginsWithItsUsage) {
  add_record();
  ASSERT_EQ(parse({"record", "--help"}), "");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_(), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Usage: program record [CMD]\n"));
}

TEST_F(CommandLineTest, VersionIsWhatIsToBeDone) {
  ASSERT_EQ(parse({"--version"}), "");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "program 1.2.3\n");
}

TEST_F(CommandLineTest, BadUseIsAComplaintOfOneLineThatPointsToTheHelp) {
  program_.add("list", "Lists");
  const char* const words[] = {"program", "list", "--bogus"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(program_.run(3, words), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("--bogus' (see program list --help)\n"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(CommandLineTest, AProgramWithoutCommandsHasOptionsOfItsOwn) {
  Command& itself = program_.itself();
  itself.flag("--system", flag_, "For all");
  itself.runs([this] { return flag_ ? 3 : 4; });
  ASSERT_EQ(parse({"--system"}), "");
  EXPECT_EQ(run_(), 3);
  EXPECT_THAT(parse({"word"}), HasSubstr("word"));
}

class ConfigTest : public CommandLineTest {
 protected:
  ConfigTest() {
    program_.itself().reads_config(file_);
    program_.itself().option("--size", number_, "How many");
    program_.itself().repeated("--mount", words_, "Where");
  }
  ~ConfigTest() override { std::remove(file_.c_str()); }
  void write(const std::string& text) { std::ofstream(file_) << text; }

  std::string file_ = testing::TempDir() + "command_line_test-" + std::to_string(::getpid()) + ".conf";
};

TEST_F(ConfigTest, AFileHasOptionsAndTheCommandLineOverridesThem) {
  write("size=5\nmount=[\"/a\", \"/b\"]\n");
  EXPECT_EQ(parse({}), "");
  EXPECT_EQ(number_, 5u);
  EXPECT_THAT(words_, ElementsAre("/a", "/b"));
  EXPECT_EQ(parse({"--size", "6"}), "");
  EXPECT_EQ(number_, 6u);
}

TEST_F(ConfigTest, AnOptionThatThereIsNotIsRefused) {
  write("sise=5\n");
  EXPECT_THAT(parse({}), HasSubstr("sise"));
}

TEST_F(ConfigTest, TheFileMayBeMissingUnlessItWasNamed) {
  EXPECT_EQ(parse({}), "");
  EXPECT_NE(parse({"--config", "/nosuch/file"}), "");
}

}  // namespace
}  // namespace landtrace::cli
