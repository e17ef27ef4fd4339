#include "ui/fleet_command.hpp"

#include <fmt/format.h>

#include <initializer_list>

namespace landtrace::ui {
namespace {

using Arguments = std::map<std::string, std::string>;

std::string argument(const Arguments& arguments, const std::string& name) {
  const auto found = arguments.find(name);
  return found == arguments.end() ? std::string() : found->second;
}

// As one word, so that no value becomes an option.
void add_options(CommandLine& line, const Arguments& arguments, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const std::string value = argument(arguments, name);
    if (!value.empty()) line.words.push_back(fmt::format("--{}={}", name, value));
  }
}

Result<void> add_word(CommandLine& line, const Arguments& arguments, const std::string& name, const std::string& what) {
  const std::string value = argument(arguments, name);
  if (value.empty()) return fail(EINVAL, what + " is wanted");
  if (value.starts_with('-')) return fail(EINVAL, value + ": that is an option");
  line.words.push_back(value);
  return {};
}

// What goes on by itself, also when the page has gone.
void detach(CommandLine& line, const Arguments& arguments) {
  add_options(line, arguments, {"where", "for"});
  line.words.emplace_back("--detach");
}

Result<CommandLine> order_latency(const Arguments& arguments) {
  CommandLine line{{"fleet", "latency"}};
  for (const char* const name : {"from", "to", "key"}) {
    if (argument(arguments, name).empty()) return fail(EINVAL, fmt::format("{} is missing", name));
  }
  add_options(line, arguments, {"from", "to", "key", "to-key", "by", "filter", "interval"});
  detach(line, arguments);
  return line;
}

Result<CommandLine> order_hist(const Arguments& arguments) {
  CommandLine line{{"fleet", "hist"}};
  LT_CHECK(add_word(line, arguments, "event", "an event"));
  if (argument(arguments, "keys").empty() && argument(arguments, "vals").empty()) {
    return fail(EINVAL, "want fields to count by, or a value with .log2");
  }
  add_options(line, arguments, {"keys", "vals", "filter", "interval"});
  detach(line, arguments);
  return line;
}

Result<CommandLine> order_enable(const Arguments& arguments) {
  CommandLine line{{"fleet", "enable"}};
  LT_CHECK(add_word(line, arguments, "event", "an event"));
  add_options(line, arguments, {"filter", "trigger"});
  detach(line, arguments);
  return line;
}

// It ends with the page: lines are for who looks.
Result<CommandLine> order_tail(const Arguments& arguments) {
  CommandLine line{{"fleet", "tail"}};
  line.keeps_lines = true;
  LT_CHECK(add_word(line, arguments, "event", "an event"));
  add_options(line, arguments, {"filter", "where", "for"});
  return line;
}

Result<CommandLine> order_end(const Arguments& arguments) {
  CommandLine line{{"fleet", "end"}};
  LT_CHECK(add_word(line, arguments, "order", "an order"));
  return line;
}

}  // namespace

Result<CommandLine> fleet_command_of(const Arguments& arguments) {
  const std::string kind = argument(arguments, "command");
  if (kind == "latency") return order_latency(arguments);
  if (kind == "hist") return order_hist(arguments);
  if (kind == "enable") return order_enable(arguments);
  if (kind == "tail") return order_tail(arguments);
  if (kind == "end") return order_end(arguments);
  return fail(EINVAL, "there is no such command");
}

}  // namespace landtrace::ui
