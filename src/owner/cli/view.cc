// `landtrace view`
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>

#include "base/fd.hpp"
#include "cli/commands.hpp"
#include "cli/export/output_file.hpp"
#include "cli/export/recording_export.hpp"
#include "cli/export/rules.hpp"
#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/pager.hpp"
#include "cli/quantity.hpp"
#include "cli/recording_file.hpp"
#include "output/page/parts.hpp"
#include "output/page/writer.hpp"

namespace landtrace::cli {
namespace {

struct ViewOptions {
  std::string file = "trace.dat";
  std::string output;
  bool force = false;
  std::uint64_t limit = 2'000'000;
  Selection::Texts wanted;
  std::vector<std::string> span_texts;
  std::vector<std::string> counter_texts;
  output::PageWriter::Options page;
  RecordingExport::Options what;
};

Result<void> parse_view(ViewOptions& options) {
  LT_TRY(options.what.selection, Selection::parse(options.wanted));
  for (const std::string& text : options.span_texts) {
    LT_TRY(output::SpanRule span, parse_span(text));
    options.page.spans.push_back(std::move(span));
  }
  for (const std::string& text : options.counter_texts) {
    LT_TRY(output::CounterRule counter, parse_counter(text));
    options.page.counters.push_back(std::move(counter));
  }
  return {};
}

// Beside the recording: trace.html of trace.dat.
std::string page_of(const std::string& file) {
  if (file == "-") return "trace.html";
  return (file.ends_with(".dat") ? file.substr(0, file.size() - 4) : file) + ".html";
}

// What is there may go if it is a page, too, or nothing at all. What cannot be read is left to who opens it.
Result<void> check_may_replace(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) return {};
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string begin(output::page::kSignature.size(), '\0');
  const auto count = fd ? ::pread(fd.get(), begin.data(), begin.size(), 0) : 0;
  if (count == static_cast<ssize_t>(begin.size()) && begin == output::page::kSignature) return {};
  return fail(EEXIST, path + " is there, and is no page of landtrace view: another -o FILE, or --force");
}

// What the page says of the recording.
std::map<std::string, std::string> page_facts(const ViewOptions& options, const output::TraceDatReader& reader) {
  std::map<std::string, std::string> all;
  all["file"] = options.file == "-" ? "standard input" : options.file.substr(options.file.rfind('/') + 1);
  all["clock"] = reader.clock();
  all["cpus"] = std::to_string(reader.cpus());
  all["version"] = LANDTRACE_VERSION;
  if (reader.is_unfinished()) all["unfinished"] = "1";
  return all;
}

void tell(const ViewOptions& options, const output::PageWriter& page, const OutputFile& file) {
  const std::uint64_t events = page.shown();
  if (options.output != "-") {
    complain(fmt::format("{} event{} in {}{}", count_text(events), events == 1 ? "" : "s", options.output,
                         file.has_replaced() ? fmt::format("; what was there is {}.old", options.output) : ""));
  }
  if (page.not_shown() == 0) return;
  complain(
      fmt::format("{} more are counted in it and not shown; --from, --to, -e and --filter choose others, --limit more",
                  count_text(page.not_shown())));
}

int write_page(ViewOptions& options, output::TraceDatReader& reader) {
  auto file = OutputFile::create(options.output, options.file, true);
  if (!file) return fail_with(kFailure, sentence(file.error()));
  output::Target target(file->fd());
  output::PageWriter page(target, options.page);
  RecordingExport exported(options.what, options.file, reader, page);
  const bool is_sound = exported.run([&target] { return target.result().has_value(); });
  target.flush();
  if (!target.result()) {
    // EPIPE: nobody reads any more, as with `| head`.
    if (target.result().error().code == EPIPE) return kSuccess;
    return fail_with(kFailure,
                     sentence(target.result().error(), options.output == "-" ? "standard output" : options.output));
  }
  if (reader.is_unfinished()) complain(unfinished_text(reader, options.file));
  if (auto kept = file->keep(); !kept) return fail_with(kFailure, sentence(kept.error()));
  tell(options, page, *file);
  const bool has_events = has_what_was_named(options.what.selection.patterns(), reader.events(), options.file);
  return is_sound && has_events ? kSuccess : kFailure;
}

int view_recording(ViewOptions& options) {
  if (auto parsed = parse_view(options); !parsed) return fail_with(kBadUse, sentence(parsed.error()));
  const daemon::DescriptorLimit descriptors;
  auto reader = open_recording(options.file);
  if (!reader) return fail_with(kFailure, sentence(reader.error(), options.file));
  if (auto known = options.what.selection.know(reader->events(), reader->cpus()); !known) {
    return fail_with(kFailure, sentence(known.error()));
  }
  if (auto fit = check_rules(options.page.spans, options.page.counters, reader->events()); !fit) {
    return fail_with(kFailure, sentence(fit.error()));
  }
  survive_closed_output();
  if (options.output.empty()) options.output = page_of(options.file);
  if (!options.force) {
    if (auto may = check_may_replace(options.output); !may) return fail_with(kFailure, sentence(may.error()));
  }
  options.page.limit = options.limit;
  options.page.about = page_facts(options, *reader);
  return write_page(options, *reader);
}

}  // namespace

void add_view(Program& program) {
  auto options = std::make_shared<ViewOptions>();
  Command& command = program.add("view", "Make a page of a recording, to look at in a browser");
  command.option("FILE", options->file, "Recording to read; - is standard input", {.shows_default = true});
  command.option("-o,--output", options->output, "File to write; - is standard output",
                 {.type = "PAGE", .default_text = "FILE with .html in place of .dat"});
  command.flag("--force", options->force, "Also in place of a file that is no such page; it becomes PAGE.old");
  Selection::add_options(command, options->wanted, "show");
  command.option("--limit", options->limit, "Show no more than this many events; the others are counted",
                 {.type = "N", .shows_default = true});
  command.repeated("--span", options->span_texts,
                   "A span from each FROM to the next TO with the same KEY, a field of both; may be repeated",
                   {.type = "FROM,TO,KEY"});
  command.repeated("--counter", options->counter_texts, "A track of a field's values; may be repeated",
                   {.type = "EVENT.FIELD"});
  command.examples(
      "Examples:\n"
      "  landtrace view                       makes trace.html of trace.dat: open it in a browser\n"
      "  landtrace view http.dat --span request,response,id\n"
      "  landtrace view --from 120.5 --to 121 -o slow.html");
  command.runs([options] { return view_recording(*options); });
}

}  // namespace landtrace::cli
