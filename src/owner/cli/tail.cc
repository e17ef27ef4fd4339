// `landtrace tail`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/live.hpp"
#include "cli/near_names.hpp"
#include "cli/tail/line_sink.hpp"

namespace landtrace::cli {
namespace {

struct TailOptions {
  LiveOptions live;
  LineStyle style;
  Selection::Texts wanted;
};

// False: a field that was named was never there. Where there was no event, that has been said.
bool had_fields(const LineWriter& lines) {
  const std::set<std::string>& there = lines.fields_there_are();
  if (there.empty()) return true;
  const std::vector<std::string> missing = lines.fields_nobody_has();
  for (const std::string& name : missing) {
    complain(
        fmt::format("--fields: no event had a field '{}'{}", name, did_you_mean(name, {there.begin(), there.end()})));
  }
  return missing.empty();
}

int tail(TailOptions& options) {
  for (const std::uint32_t pid : options.live.listen.programs.pids())
    options.wanted.pids.push_back(std::to_string(pid));
  auto selection = Selection::parse(options.wanted);
  if (!selection) return fail_with(kBadUse, sentence(selection.error()));
  if (auto checked = options.style.check(); !checked) return fail_with(kBadUse, sentence(checked.error()));
  LineSink sink(options.style, *std::move(selection));
  // On a terminal people see both; elsewhere lines must be lines.
  options.live.owns_standard_output = ::isatty(STDOUT_FILENO) == 0;
  const int status = Live(options.live).run(sink, [](Recording& recording, const consumer::Collector&) {
    recording.be_for_standard_output();
  });
  return had_fields(sink.lines()) || status != kSuccess ? status : kFailure;
}

}  // namespace

void add_tail(Program& program) {
  auto options = std::make_shared<TailOptions>();
  Command& command = program.add("tail", "Print events as they happen");
  options->live.add_options(command, "landtrace tail [OPTIONS] [--] [CMD [ARG...]]");
  Selection::add_place_options(command, options->wanted);
  options->style.add_options(command);
  command.examples(
      "Examples:\n"
      "  landtrace tail                                  what happens in the user's domain, until ^C\n"
      "  landtrace tail -e 'http_*' --filter 'status >= 500' --local\n"
      "  landtrace tail --delta -- ./server              all events of ./server and its children\n"
      "  landtrace tail -p 'libc.so.6:open path=+0($arg1):string' --pid 1234\n"
      "  landtrace tail --json -- ./server | jq .fields");
  command.runs([options] {
    const int status = options->live.check();
    return status != kSuccess ? status : tail(*options);
  });
}

}  // namespace landtrace::cli
