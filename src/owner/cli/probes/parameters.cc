#include "cli/probes/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/failure.hpp"
#include "cli/histogram/fits.hpp"
#include "cli/histogram/watch_options.hpp"

namespace landtrace::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(const std::string& text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// Of "size=$arg1", and of "bytes", which is called by what it fetches.
std::vector<std::string> names_of_arguments(const std::string& arguments) {
  std::vector<std::string> names;
  std::istringstream words(arguments);
  for (std::string word; words >> word;) names.push_back(word.substr(0, word.find_first_of("=:")));
  return names;
}

// Arguments without a name are called by their places; and where the probe is hit.
bool has_probe_itself(const std::string& name) {
  return name.starts_with("__probe_") ||
         (name.starts_with("arg") && name.size() > 3 && std::all_of(name.begin() + 3, name.end(), is_digit));
}

}  // namespace

std::vector<std::string> add_parameters(ProbeText& probe, const std::vector<std::string>& fields) {
  std::vector<std::string> added;
  if (probe.is_usdt || probe.is_pattern()) return added;
  // It names what it fetches by ways of its own: "$params", say.
  if (probe.arguments.find("$params") != std::string::npos) return added;
  std::vector<std::string> there = names_of_arguments(probe.arguments);
  for (const std::string& field : fields) {
    const std::string name = without_modifier(field);
    if (!is_name(name) || is_of_every_event(name) || has_probe_itself(name)) continue;
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    const bool is_result = probe.is_return && name == "retval";
    probe.arguments += (probe.arguments.empty() ? "" : " ") + name + (is_result ? "=$retval" : "");
    there.push_back(name);
    added.push_back(name);
  }
  return added;
}

tl::unexpected<Error> no_such_parameters(const std::string& option, const ProbeText& probe,
                                         const std::vector<std::string>& added, const Error& error) {
  std::string why = one_line(sentence(error));
  if (why.starts_with(probe.option + ": ")) why.erase(0, probe.option.size() + 2);
  return fail(error.code,
              fmt::format("{}: '{}' is no argument of the probe, and not known as a parameter: {}; by its place it is "
                          "'{} {}=$arg1', $arg2 …",
                          option, fmt::join(added, "', '"), why, probe.place, added[0]));
}

}  // namespace landtrace::cli
