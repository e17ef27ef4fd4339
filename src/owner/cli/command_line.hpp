// The command line: what a program and its commands take, and what the words then say. Only command_line.cc includes the
// parser behind it (CLI11), which takes the compiler seconds.
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

// How an option looks in the help, and when it may stand there.
struct Look {
  const char* type = nullptr;          // what the help calls its value
  const char* default_text = nullptr;  // what the help says of the default
  bool shows_default = false;          // the help says what the value is before parsing
  bool required = false;
  bool hidden = false;
  const char* needs = nullptr;  // another option's name
};

// A command, or a program that has none. Names are as "-o,--output"; without dashes, of a word by its place: "FILE".
// What the values are read into must live until the command has run.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void flag(const std::string& names, bool& value, const std::string& help, const Look& look = {});
  void option(const std::string& names, std::string& value, const std::string& help, const Look& look = {});
  void option(const std::string& names, std::uint64_t& value, const std::string& help, const Look& look = {});
  // May stand there again and again, each time with one value.
  void repeated(const std::string& names, std::vector<std::string>& values, const std::string& help,
                const Look& look = {});
  // Takes many values: several words, each of which may have several with commas between them.
  void list(const std::string& names, std::vector<std::string>& values, const std::string& help, const Look& look = {});
  // Takes many words, as they are.
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help, const Look& look = {});
  // As repeated(), but once all is read, `take` gets the values of all such options in the order of the command line.
  void in_order(const std::string& names, std::function<void(const std::string&)> take, const std::string& help,
                const Look& look = {});

  // What stands behind "--", or begins with the first word that is no option, is a CMD with its arguments. `usage` is the
  // help's first line; `missing` is the complaint where there is none; without it, none is needed.
  void takes_command(std::vector<std::string>& command, const std::string& usage, const char* missing = nullptr);

  // `--config FILE` names a file with more of these options; without it, `file` is read if it is there.
  void reads_config(const std::string& file);

  // Stands below the help.
  void examples(const char* text);
  // `run` returns the exit status.
  void runs(std::function<int()> run) { run_ = std::move(run); }

 private:
  friend class Program;
  struct Taker {
    const CLI::Option* option;
    std::function<void(const std::string&)> take;
  };

  // `behind`: the words behind the first "--", or null where there is none.
  [[nodiscard]] Result<void> finish(const std::vector<std::string>* behind);
  void hand_over_in_order();

  CLI::App& app_;
  std::vector<Taker> takers_;
  std::vector<std::string>* command_ = nullptr;
  const char* missing_ = nullptr;
  std::function<int()> run_;
};

class Program {
 public:
  Program(const std::string& name, const std::string& what, const std::string& version);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The program's own options, if it has no commands.
  Command& itself() { return *itself_; }
  // A command; one must be named.
  Command& add(const std::string& name, const std::string& what);

  // Reads the words (argv[0] is passed over). What is to be done now: what a command runs(), or printing the help. EINVAL
  // with a sentence of one line.
  Result<std::function<int()>> parse(int argc, const char* const* argv);
  // Parses and runs: the exit status.
  int run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Command> itself_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace landtrace::cli
