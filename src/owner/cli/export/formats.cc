#include "cli/export/formats.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/near_names.hpp"
#include "output/perf_data/writer.hpp"

namespace landtrace::cli {
namespace {

constexpr ExportFormat kFormats[] = {
    {"perf", "perf.data", true,
     [](output::Target& target, const ExportOptions& options) -> std::unique_ptr<output::Exporter> {
       return std::make_unique<output::PerfDataWriter>(
           target, output::PerfDataWriter::Options{options.clock, options.has_stacks});
     }},
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
  return fail(EINVAL, fmt::format("--format {}: there are {}", name, export_format_names()));
}

std::string export_format_names() { return fmt::format("{}", fmt::join(names(), ", ")); }

}  // namespace landtrace::cli
