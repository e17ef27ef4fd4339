#include "cli/command_line.hpp"

#include <algorithm>
#include <cstring>

namespace landtrace::cli {
namespace {

[[noreturn]] void throw_unexpected(const std::string& word) {
  const char* const kind = word.starts_with('-') ? "unknown option" : "unexpected argument";
  throw CLI::ParseError(std::string(kind) + " '" + word + "'", CLI::ExitCodes::ExtrasError);
}

class FormatterWithUsage : public CLI::Formatter {
 public:
  explicit FormatterWithUsage(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n\n"; }

 private:
  std::string usage_;
};

}  // namespace

void set_usage(CLI::App& subcommand, const std::string& usage) {
  subcommand.formatter(std::make_shared<FormatterWithUsage>(usage));
}

CommandLine split_command_line(int argc, const char* const* argv) {
  CommandLine line;
  const char* const* const end = argv + argc;
  const char* const* const separator =
      std::find_if(argv + 1, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  line.own.assign(argv + 1, separator);
  line.has_separator = separator != end;
  if (line.has_separator) line.rest.assign(separator + 1, end);
  return line;
}

std::vector<std::string> take_command(const CLI::App& subcommand, const CommandLine& line) {
  std::vector<std::string> command = subcommand.remaining();
  if (!command.empty() && command.front().starts_with('-')) throw_unexpected(command.front());
  // CMD began before the separator, which then is CMD's own.
  if (!command.empty() && line.has_separator) command.emplace_back("--");
  command.insert(command.end(), line.rest.begin(), line.rest.end());
  return command;
}

void expect_no_command(const CommandLine& line) {
  if (line.has_separator) throw_unexpected(line.rest.empty() ? "--" : line.rest.front());
}

}  // namespace landtrace::cli
