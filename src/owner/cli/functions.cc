// `landtrace functions`
#include <unistd.h>

#include <optional>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/functions/rows.hpp"
#include "cli/near_names.hpp"
#include "cli/pager.hpp"
#include "cli/terminal.hpp"
#include "cli/text_output.hpp"
#include "code/object_path.hpp"
#include "symbols/debug_file.hpp"

namespace landtrace::cli {
namespace {

struct FunctionsOptions {
  std::string object;
  std::string glob;
  bool refused = false;
  bool summary = false;
  bool json = false;
  bool no_pager = false;
};

bool is_glob(const std::string& text) { return text.find_first_of("*?[") != text.npos; }

// What to say where nothing has that name.
std::string nothing_matches(code::Analysis& analysis, const FunctionsOptions& options) {
  if (analysis.functions().empty()) return options.object + " says nothing of its functions: no symbols, no .eh_frame";
  if (is_glob(options.glob)) return "no function of " + options.object + " matches '" + options.glob + "'";
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

int functions(const FunctionsOptions& options) {
  if (options.refused && options.summary) return fail_with(kBadUse, "--refused and --summary exclude each other");
  const auto path = code::object_path(options.object);
  if (!path) {
    const std::string near = did_you_mean(options.object, code::object_names());
    return fail_with(kFailure, sentence(path.error()) + near);
  }
  auto analysis = code::Analysis::open(*path);
  if (!analysis) return fail_with(kFailure, sentence(analysis.error(), *path));
  const std::vector<FunctionRow> rows = function_rows(*analysis, options.glob);
  if (rows.empty()) return fail_with(kFailure, nothing_matches(*analysis, options));
  survive_closed_output();
  return options.summary ? print_counts(options, *path, *analysis, counts_of(rows)) : print_rows(options, rows);
}

}  // namespace

void add_functions(Program& program) {
  auto options = std::make_shared<FunctionsOptions>();
  Command& command = program.add("functions", "List a file's functions, and how each can be probed");
  command.option("PATH", options->object, "Program or library, or its name: libc.so.6, bash", {.required = true});
  command.option("GLOB", options->glob, "Only functions of that name");
  command.flag("--refused", options->refused, "Only those whose entry or return cannot be probed, with the reason");
  command.flag("--summary", options->summary, "Only how many of each kind there are");
  command.flag("--json", options->json, "One JSON object a line");
  command.flag("--no-pager", options->no_pager, "On a terminal, print everything at once; without it, $PAGER shows it");
  command.examples(
      "Examples:\n"
      "  landtrace functions libc.so.6 'mem*'            how memcpy and its like can be probed\n"
      "  landtrace functions build/server --refused      what cannot be, and why\n"
      "  landtrace functions --summary python3");
  command.runs([options] { return functions(*options); });
}

}  // namespace landtrace::cli
