// --format and what belongs to it: the options that `export` and `record` have in common.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/export/formats.hpp"

namespace landtrace::cli {

struct FormatOptions {
  std::string format;
  std::vector<std::string> span_texts;
  std::vector<std::string> counter_texts;

  // check() fills these in.
  const ExportFormat* chosen = nullptr;
  std::vector<output::SpanRule> spans;
  std::vector<output::CounterRule> counters;

  void add_options(Command& command);
  // EINVAL: they are wrong, or contradict each other. Without --format nothing is chosen.
  Result<void> check();
};

}  // namespace landtrace::cli
