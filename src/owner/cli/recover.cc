// `landtrace recover`
#include "cli/commands.hpp"
#include "cli/export/killed_output.hpp"
#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "cli/recording_file.hpp"
#include "daemon/hosted_domain.hpp"
#include "output/trace_dat/reader.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::cli {
namespace {

// What `record --format` has left.
int recover_format(const std::string& path) {
  if (auto completed = complete_killed(path); !completed) return fail_with(kFailure, sentence(completed.error()));
  complain(path + " has what was written until its recorder was killed, or the disk full");
  return kSuccess;
}

int recover(const std::string& file) {
  if (const std::string path = path_of_killed(file); !path.empty()) return recover_format(path);
  const daemon::DescriptorLimit descriptors;
  const auto completed = output::complete_recording(file);
  if (!completed) {
    if (completed.error().code != EALREADY) return fail_with(kFailure, sentence(completed.error(), file));
    complain(sentence(completed.error(), file) + " already");
    return kSuccess;
  }
  const std::string& path = completed->path;
  const auto reader = output::TraceDatReader::open(path);
  if (!reader) return fail_with(kFailure, sentence(reader.error(), path));
  std::uint64_t events = 0, lost = 0;
  for (const output::CpuStats& stats : reader->stats()) {
    events += stats.entries;
    lost += stats.overrun + stats.dropped;
  }
  complain(fmt::format("{} event{}, {} lost, in {}{}", count_text(events), events == 1 ? "" : "s", count_text(lost),
                       path, damage_text(*completed)));
  if (completed->has_replaced) complain(fmt::format("the older recording is {}.old now", path));
  return kSuccess;
}

}  // namespace

void add_recover(Program& program) {
  Command& command = program.add("recover", "Complete a recording whose recorder was killed, or found the disk full");
  auto file = std::make_shared<std::string>("trace.dat");
  command.option("FILE", *file, "Recording to complete", {.shows_default = true});
  command.examples(
      "Examples:\n"
      "  landtrace recover                               completes trace.dat, whose recorder was killed\n"
      "  landtrace recover http.dat && trace-cmd report http.dat\n"
      "  landtrace recover trace.json                    of trace.json.partial, which record --format left");
  command.runs([file] { return recover(*file); });
}

}  // namespace landtrace::cli
