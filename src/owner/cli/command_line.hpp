// The command line: a program and its commands declare their options, and parse() fills in what the user typed. Only
// command_line.cc includes the parser behind it (CLI11), because it takes seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace landtrace::cli {

// How an option looks in the help, and when it is allowed.
struct Look {
  const char* type = nullptr;          // what the help calls its value
  const char* default_text = nullptr;  // what the help says of the default
  bool shows_default = false;          // the help says what the value is before parsing
  bool required = false;
  const char* required_unless = nullptr;  // … but not where this option ("-p,--probe") is given
  bool hidden = false;
  const char* needs = nullptr;  // another option's name
};

// The options of a command, or of a program without commands. A name is "-o,--output", or "FILE" for a positional
// word. The variables must outlive the run of the command.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void flag(const std::string& names, bool& value, const std::string& help, const Look& look = {});
  void option(const std::string& names, std::string& value, const std::string& help, const Look& look = {});
  void option(const std::string& names, std::uint64_t& value, const std::string& help, const Look& look = {});
  // May be given without a value, as "--fleet": `value` stays as it is then.
  void option_or_flag(const std::string& name, bool& given, std::string& value, const std::string& help,
                      const Look& look = {});
  // May be given several times, each time with one value.
  void repeated(const std::string& names, std::vector<std::string>& values, const std::string& help,
                const Look& look = {});
  // The same, with several values separated by commas: what stands behind is no value.
  void repeated_list(const std::string& names, std::vector<std::string>& values, const std::string& help,
                     const Look& look = {});
  // Takes several words, and several values separated by commas in each. Not for a command with a word that may be left
  // out: it would be taken for one of these.
  void list(const std::string& names, std::vector<std::string>& values, const std::string& help, const Look& look = {});
  // Takes several words unchanged.
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help, const Look& look = {});
  // As repeated(), but parse() hands the values of all such options to their `take` in the order of the command line.
  void in_order(const std::string& names, std::function<void(const std::string&)> take, const std::string& help,
                const Look& look = {});

  // The words behind "--", or from the first word that is not an option, are a CMD with its arguments. `usage` is the
  // first line of the help. Where a CMD is required, `missing` is the complaint without one.
  void takes_command(std::vector<std::string>& command, const std::string& usage, const char* missing = nullptr);

  // `--config FILE` names a file with more of these options; without it, `file` is read if it is there.
  void reads_config(const std::string& file);

  // Printed below the help.
  void examples(const char* text);
  // `run` returns the exit status.
  void runs(std::function<int()> run) { run_ = std::move(run); }

 private:
  friend class Program;
  struct Taker {
    const CLI::Option* option;
    std::function<void(const std::string&)> take;
  };

  struct Requirement {
    CLI::Option* option;
    std::string unless;
  };

  // Before parsing `words`.
  void require_what_is_needed(const std::vector<std::string>& words);
  // `behind`: the words behind the first "--", or null without a "--".
  [[nodiscard]] Result<void> finish(const std::vector<std::string>* behind);
  void hand_over_in_order();
  // What is said of a word that is none of its options.
  [[nodiscard]] std::string complaint_about(const std::string& word) const;
  // Of an option's value; "" where it is not empty.
  std::string complaint_about_empty(const std::string& names, const std::string& value, const Look& look);

  CLI::App& app_;
  std::vector<Taker> takers_;
  std::vector<Requirement> requirements_;
  std::vector<std::string>* command_ = nullptr;
  const char* missing_ = nullptr;
  std::string mistake_;  // in the value of an option
  std::function<int()> run_;
};

class Program {
 public:
  Program(const std::string& name, const std::string& what, const std::string& version);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The options of a program without commands.
  Command& itself() { return *itself_; }
  // A command. The user must name one.
  Command& add(const std::string& name, const std::string& what);

  // Which command's help says more about what was typed: "landtrace record".
  [[nodiscard]] std::string helpful_command(int argc, const char* const* argv) const;

  // Reads the words behind argv[0]. Returns what to do now: what the command runs(), or printing the help. EINVAL
  // with a sentence of one line.
  Result<std::function<int()>> parse(int argc, const char* const* argv);
  // Parses and runs: the exit status.
  int run(int argc, const char* const* argv);

 private:
  [[nodiscard]] Command* command_in(const std::vector<std::string>& words) const;
  [[nodiscard]] std::string complaint_about_command(const std::vector<std::string>& words) const;

  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Command> itself_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace landtrace::cli
