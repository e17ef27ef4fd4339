#include "cli/export/formats.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/raw_clock.hpp"
#include "output/csv/writer.hpp"
#include "output/ctf/writer.hpp"
#include "output/flame/writer.hpp"
#include "output/folded/writer.hpp"
#include "output/json/lines.hpp"
#include "output/perf_data/writer.hpp"
#include "output/perfetto/writer.hpp"
#include "output/speedscope/writer.hpp"

namespace landtrace::cli {
namespace {

using Made = std::unique_ptr<output::Exporter>;
using output::Target;

Made make_perf(Target& target, const ExportOptions& options) {
  return std::make_unique<output::PerfDataWriter>(target,
                                                  output::PerfDataWriter::Options{options.clock, options.has_stacks});
}

Made make_csv(Target& target, const ExportOptions& options) {
  return std::make_unique<output::CsvWriter>(target,
                                             output::CsvWriter::Options{!counts(options.clock), options.has_stacks});
}

Made make_chrome(Target& target, const ExportOptions& options) {
  return std::make_unique<output::ChromeWriter>(target, output::ChromeWriter::Options{options.spans, options.counters});
}

Made make_perfetto(Target& target, const ExportOptions& options) {
  return std::make_unique<output::PerfettoWriter>(
      target, output::PerfettoWriter::Options{options.spans, options.counters, options.wall_offset_ns});
}

Made make_ctf(int folder, const ExportOptions& options) {
  return std::make_unique<output::CtfWriter>(
      output::CtfWriter::Options{folder, options.has_stacks, options.wall_offset_ns});
}

Made make_flame(Target& target, const ExportOptions& options) {
  return std::make_unique<output::FlameWriter>(target, options.title);
}

template <typename Writer>
Made make(Target& target, const ExportOptions&) {
  return std::make_unique<Writer>(target);
}

constexpr ExportFormat kFormats[] = {
    {"perf", "perf.data", true, false, make_perf},
    {"ctf", "trace.ctf", true, false, nullptr, make_ctf, output::CtfWriter::is_file, false, true},
    {"perfetto", "trace.pftrace", true, true, make_perfetto, nullptr, nullptr, false, true},
    {"chrome", "-", false, true, make_chrome, nullptr, nullptr, false, true},
    {"speedscope", "-", false, false, make<output::SpeedscopeWriter>},
    {"folded", "-", false, false, make<output::FoldedWriter>, nullptr, nullptr, false, true},
    {"flame", "flame.svg", false, false, make_flame},
    {"csv", "-", false, false, make_csv, nullptr, nullptr, true},
    {"json", "-", false, false, make<output::JsonLines>, nullptr, nullptr, false, true},
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ExportFormat& format : kFormats) all.emplace_back(format.name);
  return all;
}

}  // namespace

Result<const ExportFormat*> export_format(const std::string& name) {
  for (const ExportFormat& format : kFormats) {
    if (name == format.name) return &format;
  }
  return fail(EINVAL, fmt::format("--format '{}': want one of {}", name, export_format_names()));
}

std::string export_format_names() { return fmt::format("{}", fmt::join(names(), ", ")); }

}  // namespace landtrace::cli
