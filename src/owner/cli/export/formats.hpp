// The formats of `landtrace export`, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "output/chrome/writer.hpp"
#include "output/export/exporter.hpp"
#include "output/export/target.hpp"

namespace landtrace::cli {

struct ExportOptions {
  std::string clock;
  bool has_stacks = false;  // the recording has some
  std::vector<output::SpanRule> spans;
  std::vector<output::CounterRule> counters;
};

struct ExportFormat {
  const char* name;
  const char* file;  // where it goes if the user does not say; "-" is standard output
  bool is_binary;
  bool has_spans;  // --span means something
  std::unique_ptr<output::Exporter> (*make)(output::Target& target, const ExportOptions& options);
};

// EINVAL: there is no such format; the sentence names those that are there.
Result<const ExportFormat*> export_format(const std::string& name);
// "perf, csv, …"
std::string export_format_names();

}  // namespace landtrace::cli
