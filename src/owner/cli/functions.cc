// `landtrace functions`
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "attach/facts.hpp"
#include "attach/program_memory.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/functions/rows.hpp"
#include "cli/near_names.hpp"
#include "cli/pager.hpp"
#include "cli/probes/refusals.hpp"
#include "cli/probes/running_programs.hpp"
#include "cli/static_program.hpp"
#include "cli/terminal.hpp"
#include "cli/text_output.hpp"
#include "code/glob.hpp"
#include "code/object_path.hpp"
#include "symbols/debug_file.hpp"

namespace landtrace::cli {
namespace {

struct FunctionsOptions {
  std::string object;
  std::string glob;
  bool refused = false;
  bool summary = false;
  bool args = false;
  bool json = false;
  bool no_pager = false;
};

// What to say where nothing has that name.
std::string nothing_matches(code::Analysis& analysis, const FunctionsOptions& options) {
  if (analysis.functions().empty()) return options.object + " says nothing of its functions: no symbols, no .eh_frame";
  if (code::is_glob(options.glob)) return "no function of " + options.object + " matches '" + options.glob + "'";
  std::vector<std::string> names;
  for (const code::Function& function : analysis.functions()) {
    for (const std::string_view name : analysis.names(function)) names.emplace_back(name);
  }
  return "no function '" + options.glob + "' in " + options.object + did_you_mean(options.glob, names);
}

int print_rows(const FunctionsOptions& options, const std::vector<FunctionRow>& rows) {
  const Screen screen = Screen::of(STDOUT_FILENO);
  std::optional<Pager> pager;
  if (!options.no_pager && !options.json && rows.size() + 1 >= screen.rows) pager.emplace();
  TextOutput out;
  if (!options.json) out.text() += functions_head();
  for (const FunctionRow& row : rows) {
    if (options.refused && row.has_return()) continue;
    out.text() += options.json ? function_json(row) : function_line(row, options.refused, screen.columns);
    if (!out.flush_if_full()) break;
  }
  out.flush();
  return out.status();
}

int print_counts(const FunctionsOptions& options, const std::string& path, const code::Analysis& analysis,
                 const FunctionCounts& counts) {
  TextOutput out;
  out.text() +=
      options.json ? counts_json(path, symbols::in_hex(analysis.build_id()), counts) : counts_text(path, counts);
  out.flush();
  return out.status();
}

// nullopt: a file is meant, or a name.
std::optional<std::uint32_t> pid_in(const std::string& object) {
  std::error_code error;
  if (object.find_first_not_of("0123456789") != std::string::npos || std::filesystem::exists(object, error)) {
    return std::nullopt;
  }
  const auto pids = parse_pids("PATH", {object});
  return pids ? std::optional(pids->front()) : std::nullopt;
}

// The files whose code a process has mapped, and that can be opened by their names.
Result<std::vector<std::string>> objects_of(std::uint32_t pid) {
  LT_TRY(const attach::Facts facts, attach::facts_of(pid));
  const auto memory = attach::ProgramMemory::open(pid);
  if (!memory) return fail(EPERM, attach::why_not_permitted(facts, attach::rights_over(pid)));
  LT_TRY(const auto ranges, memory->ranges());
  std::vector<std::string> paths;
  std::error_code error;
  for (const attach::MappedRange& range : ranges) {
    const bool is_code = range.is_executable && range.path.starts_with('/');
    if (is_code && std::find(paths.begin(), paths.end(), range.path) == paths.end() &&
        std::filesystem::exists(range.path, error)) {
      paths.push_back(range.path);
    }
  }
  return paths;
}

// Of a program that runs: each of its objects, and what its probes came to.
int functions_of_program(const FunctionsOptions& options, std::uint32_t pid) {
  const auto paths = objects_of(pid);
  if (!paths) return fail_with(kFailure, sentence(paths.error()));
  survive_closed_output();
  bool any = false;
  std::optional<Error> other_machine;
  for (const std::string& path : *paths) {
    auto analysis = code::Analysis::open(path);
    if (!analysis && analysis.error().code == ENOTSUP) other_machine = analysis.error();
    if (!analysis) continue;
    std::vector<FunctionRow> rows = function_rows(*analysis, options.glob);
    if (rows.empty()) continue;
    if (options.args) std::ignore = add_sources(rows, path);  // not every object has debugging information
    any = true;
    for (FunctionRow& row : rows) row.object = path;
    const bool is_counted = options.summary || options.glob.empty();
    if (!is_counted && !options.json) std::fputs((path + '\n').c_str(), stdout);
    std::fflush(stdout);
    FunctionsOptions here = options;
    here.no_pager = true;
    const int status = is_counted ? print_counts(here, path, *analysis, counts_of(rows)) : print_rows(here, rows);
    if (status != kSuccess) return status;
  }
  if (!any && other_machine) return fail_with(kFailure, fmt::format("process {}: {}", pid, sentence(*other_machine)));
  if (!any) return fail_with(kFailure, fmt::format("no function of process {} matches '{}'", pid, options.glob));
  for (const std::string& text : refusal_texts({pid})) complain(text);
  return kSuccess;
}

int functions(const FunctionsOptions& options) {
  if (options.refused && options.summary) return fail_with(kBadUse, "--refused and --summary exclude each other");
  if (const auto pid = pid_in(options.object)) return functions_of_program(options, *pid);
  const auto path = code::object_path(options.object);
  if (!path) {
    const std::string near = did_you_mean(options.object, code::object_names());
    return fail_with(kFailure, sentence(path.error()) + near);
  }
  auto analysis = code::Analysis::open(*path);
  if (!analysis) return fail_with(kFailure, sentence(analysis.error(), *path));
  std::vector<FunctionRow> rows = function_rows(*analysis, options.glob);
  if (rows.empty()) return fail_with(kFailure, nothing_matches(*analysis, options));
  if (options.args) {
    if (const auto added = add_sources(rows, *path); !added) return fail_with(kFailure, sentence(added.error(), *path));
  }
  survive_closed_output();
  if (is_static_object(*path)) {
    complain(
        fmt::format("{} is linked statically: nothing can be loaded into it, so none of these can be probed", *path));
  }
  return options.summary ? print_counts(options, *path, *analysis, counts_of(rows)) : print_rows(options, rows);
}

}  // namespace

void add_functions(Program& program) {
  auto options = std::make_shared<FunctionsOptions>();
  Command& command = program.add("functions", "List a file's functions, and how each can be probed");
  command.option("PATH", options->object, "Program or library, or its name: libc.so.6, bash; or a PID",
                 {.required = true});
  command.option("GLOB", options->glob, "Only functions of that name");
  command.flag("--refused", options->refused, "Only those whose entry or return cannot be probed, with the reason");
  command.flag("--summary", options->summary, "Only how many of each kind there are");
  command.flag("--args", options->args, "Also their parameters, types and source lines, from debugging information");
  command.flag("--json", options->json, "One JSON object a line");
  command.flag("--no-pager", options->no_pager, "On a terminal, print everything at once; without it, $PAGER shows it");
  command.examples(
      "Examples:\n"
      "  landtrace functions libc.so.6 'mem*'            how memcpy and its like can be probed\n"
      "  landtrace functions build/server --refused      what cannot be, and why\n"
      "  landtrace functions build/server --args         what their parameters are called\n"
      "  landtrace functions --summary python3\n"
      "  landtrace functions 1234 'malloc'               of all objects of a program that runs");
  command.runs([options] { return functions(*options); });
}

}  // namespace landtrace::cli
