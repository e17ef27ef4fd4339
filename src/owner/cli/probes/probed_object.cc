#include "cli/probes/probed_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cli/near_names.hpp"
#include "cli/static_program.hpp"
#include "code/analysis.hpp"
#include "code/refusal.hpp"
#include "programs/object_files.hpp"
#include "symbols/short_name.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

std::string name_of_path(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void add_names_in(std::vector<std::string>& names, const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
}

// What may have been meant by a name that nothing has.
std::string near_object(const std::string& name, const std::vector<std::string>& command) {
  std::vector<std::string> names;
  if (!command.empty()) names.push_back(name_of_path(command.front()));
  for (const char* const folder : {".", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
                                   "/usr/local/lib", "/usr/bin"}) {
    add_names_in(names, folder);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return did_you_mean(name, names);
}

Result<std::string> find_path(const ProbeText& probe, const std::vector<std::string>& command) {
  const std::string& object = probe.object;
  std::error_code error;
  if (object.empty()) {
    if (command.empty()) {
      return fail(EINVAL,
                  fmt::format("{}: want OBJECT:FUNCTION, as in 'libc.so.6:{}': without a CMD there is no program "
                              "whose function it could be",
                              probe.option, probe.function));
    }
    return path_of_program(command.front());
  }
  if (object.find('/') != std::string::npos) {
    const fs::path path = fs::absolute(object, error).lexically_normal();
    if (fs::exists(path, error)) return path.string();
    std::vector<std::string> names;
    add_names_in(names, path.parent_path());
    return fail(ENOENT, fmt::format("{}: there is no file {}{}", probe.option, object,
                                    did_you_mean(path.filename().string(), names)));
  }
  if (!command.empty() && name_of_path(command.front()) == object) return path_of_program(command.front());
  if (std::string path = programs::find_object(object); !path.empty()) return path;
  if (std::string path = path_of_program(object); !path.empty()) return path;
  if (fs::is_regular_file(object, error)) return object;
  return fail(ENOENT, fmt::format("{}: there is no library or program '{}'{}", probe.option, object,
                                  near_object(object, command)));
}

constexpr std::string_view kElf = "\177ELF";

// "" of what cannot be read, which is said later on.
std::string first_bytes(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::string bytes(kElf.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// "0x1234", "+12", "-3".
std::optional<std::int64_t> number_of(const std::string& text) {
  const std::size_t digits = text.empty() || (text[0] != '+' && text[0] != '-') ? 0 : 1;
  if (digits >= text.size() || text[digits] < '0' || text[digits] > '9') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 0);
  if (*end != '\0' || errno != 0) return std::nullopt;
  return number;
}

enum class Names : std::uint8_t { kPlain, kWithParameters };
std::vector<std::string> function_names(const code::Analysis& analysis, Names how = Names::kPlain) {
  std::vector<std::string> names;
  for (const code::Function& function : analysis.functions()) {
    if (function.is_part) continue;
    for (const std::string_view linked : analysis.names(function)) {
      const symbols::WrittenName name(linked);
      names.emplace_back(how == Names::kPlain ? name.plain() : name.whole());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Where a name was cut off by a *, names that begin alike are cut off, too.
std::vector<std::string> beginnings(const std::vector<std::string>& names, std::size_t size) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    std::string begin = name.substr(0, size) + "*";
    if (found.empty() || found.back() != begin) found.push_back(std::move(begin));
  }
  return found;
}

}  // namespace

Result<std::string> find_probed_object(const ProbeText& probe, const std::vector<std::string>& command) {
  LT_TRY(std::string path, find_path(probe, command));
  if (path.empty()) return fail(ENOENT, fmt::format("{}: there is no program '{}'", probe.option, command.front()));
  std::error_code error;
  path = fs::absolute(path, error).lexically_normal().string();
  if (path.find_first_of(" \t\n:#") != std::string::npos) {
    return fail(EINVAL, fmt::format("{}: {}: a path with spaces, colons or # cannot be probed", probe.option, path));
  }
  if (const std::string begin = first_bytes(path); !begin.empty() && begin != kElf) {
    const bool is_script = begin.starts_with("#!");
    return fail(EINVAL, fmt::format("{}: {} is {}: it has no functions that can be probed", probe.option, path,
                                    is_script ? "a script" : "no program or library"));
  }
  if (is_static_object(path)) {
    return fail(EINVAL, fmt::format("{}: {} is linked statically: its functions cannot be probed", probe.option, path));
  }
  return path;
}

std::string missing_function_text(const ProbeText& probe, const std::string& path) {
  const auto analysis = code::Analysis::open(path);
  if (!analysis) {
    const std::string& why = analysis.error().message;
    return fmt::format("{} cannot be probed: {}", path, why.empty() ? errno_text(analysis.error().code) : why);
  }
  const auto known = analysis->named().find(probe.function);
  if (known) return "";
  if (known.error().code != ENOENT) return known.error().message + ": " + path;
  const std::string wanted = probe.function.substr(0, probe.function.find_last_of("+-"));
  if (analysis->named().find(wanted)) return "";
  const bool has_parameters = wanted.ends_with(')');
  return fmt::format(
      "there is no function '{}' in {}{}", wanted, path,
      did_you_mean(wanted, function_names(*analysis, has_parameters ? Names::kWithParameters : Names::kPlain)));
}

std::string misplaced_text(const ProbeText& probe, const std::string& path) {
  if (probe.is_usdt) return "";
  const std::size_t sign = std::min(probe.function.find_last_of("+-"), probe.function.size());
  const std::string name = probe.function.substr(0, sign);
  const std::optional<std::int64_t> distance = number_of(probe.function.substr(sign));
  const std::optional<std::int64_t> in_file = number_of(probe.function);
  if (!distance && !in_file) return "";
  auto analysis = code::Analysis::open(path);
  if (!analysis) return "";
  auto offset = static_cast<std::uint64_t>(in_file.value_or(0));
  if (!in_file) {
    const auto found = analysis->named().find(name);
    if (!found) return "";
    const code::Function& function = **found;
    const std::uint64_t size = function.end - function.begin;
    if (*distance < 0 || static_cast<std::uint64_t>(*distance) >= size) {
      return fmt::format("{} has {} bytes of code, and none there", name, size);
    }
    offset = analysis->offset_of(function) + static_cast<std::uint64_t>(*distance);
  }
  const agent::Recipe recipe = analysis->recipe(offset);
  if (recipe.way != agent::Way::kRefused || recipe.refusal != agent::Refusal::kNoCode) return "";
  return std::string(code::refusal_text(recipe.refusal));
}

std::string nothing_fits_text(const ProbeText& probe, const std::string& path) {
  const std::string& pattern = probe.function;
  const std::string text = fmt::format("no function of {} fits '{}'", path, pattern);
  const auto analysis = code::Analysis::open(path);
  if (!analysis) return text;
  const std::vector<std::string> names = function_names(*analysis);
  const std::size_t letters = pattern.find_first_of("*?[");
  const bool is_cut_off = letters + 1 == pattern.size() && pattern.back() == '*';
  return text + did_you_mean(pattern, is_cut_off ? beginnings(names, letters) : names);
}

bool is_surely_object(const ProbeText& probe) {
  return probe.is_return || !probe.arguments.empty() || probe.object.find_first_of("/.-+") != std::string::npos ||
         number_of(probe.function).has_value();
}

bool has_probed_function(const ProbeText& probe, const std::vector<std::string>& command) {
  const auto path = find_probed_object(probe, command);
  return path && (probe.is_pattern() || missing_function_text(probe, *path).empty());
}

}  // namespace landtrace::cli
