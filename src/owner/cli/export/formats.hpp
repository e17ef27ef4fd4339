// The formats of `landtrace export`, by name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/chrome/writer.hpp"
#include "output/export/exporter.hpp"
#include "output/export/target.hpp"

namespace landtrace::cli {

struct ExportOptions {
  std::string clock = "mono";
  bool has_stacks = false;                          // the recording has some
  std::optional<std::int64_t> wall_offset_ns = {};  // from times to nanoseconds since 1970; none: not known
  std::vector<output::SpanRule> spans = {};
  std::vector<output::CounterRule> counters = {};
  std::string title = {};  // above a picture
  bool lasts = false;      // it is written as it comes: what there is of it stays where the program is killed
};

struct ExportFormat {
  const char* name;
  const char* file;  // where it goes if the user does not say; "-" is standard output
  bool is_binary;
  bool has_spans;  // --span means something
  std::unique_ptr<output::Exporter> (*make)(output::Target& target, const ExportOptions& options);
  // Instead of `make` where the format is a folder of files, which are of these names.
  std::unique_ptr<output::Exporter> (*make_folder)(int folder, const ExportOptions& options) = nullptr;
  bool (*is_file)(const std::string& name) = nullptr;
  // It must know all events' fields before the first event: nothing for a recording that has just begun.
  bool needs_all_types = false;
  // What there is of it can be read before its end is written, or after `landtrace recover`.
  bool grows = false;
};

// EINVAL: there is no such format; the sentence names those that are there.
Result<const ExportFormat*> export_format(const std::string& name);
// "perf, csv, …"
std::string export_format_names();

}  // namespace landtrace::cli
