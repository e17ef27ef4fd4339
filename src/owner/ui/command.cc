#include "ui/command.hpp"

#include <fmt/format.h>

namespace landtrace::ui {
namespace {

using Arguments = std::map<std::string, std::string>;

std::string value_of(const Arguments& arguments, const std::string& name) {
  const auto found = arguments.find(name);
  return found == arguments.end() ? std::string() : found->second;
}

// As one word, so that no value becomes an option.
void add_option(CommandLine& line, const Arguments& arguments, const std::string& name) {
  const std::string value = value_of(arguments, name);
  if (!value.empty()) line.words.push_back(fmt::format("--{}={}", name, value));
}

Result<CommandLine> latency(const Arguments& arguments) {
  CommandLine line{{"latency", "--json", "--interval=0.5"}, true};
  const bool is_function = !value_of(arguments, "function").empty();
  for (const char* name : {"from", "to", "key"}) {
    if (!is_function && value_of(arguments, name).empty()) return fail(EINVAL, fmt::format("{} is missing", name));
    if (!is_function) add_option(line, arguments, name);
  }
  if (is_function) add_option(line, arguments, "function");
  add_option(line, arguments, "by");
  add_option(line, arguments, "filter");
  return line;
}

Result<CommandLine> functions(const Arguments& arguments) {
  CommandLine line{{"functions", "--json"}};
  for (const char* name : {"object", "name"}) {
    const std::string value = value_of(arguments, name);
    if (value.empty()) return fail(EINVAL, "which functions? a program and a name are wanted");
    if (value.starts_with('-')) return fail(EINVAL, value + ": that is an option");
    line.words.push_back(value);
  }
  return line;
}

}  // namespace

Result<CommandLine> command_of(const Arguments& arguments) {
  const std::string kind = value_of(arguments, "command");
  if (kind == "latency") return latency(arguments);
  if (kind == "functions") return functions(arguments);
  return fail(EINVAL, "there is no such command");
}

}  // namespace landtrace::ui
