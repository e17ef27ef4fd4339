#include "cli/export/options.hpp"

#include <fmt/format.h>

#include "cli/export/rules.hpp"

namespace landtrace::cli {

void FormatOptions::add_options(Command& command) {
  command.option("--format", format, "One of " + export_format_names(), {.type = "NAME"});
  command.repeated("--span", span_texts,
                   "A span from each FROM to the next TO with the same KEY, a field of both; may be repeated",
                   {.type = "FROM,TO,KEY"});
  command.repeated("--counter", counter_texts, "A track of a field's values; may be repeated", {.type = "EVENT.FIELD"});
}

Result<void> FormatOptions::check() {
  if (format.empty()) {
    if (span_texts.empty() && counter_texts.empty()) return {};
    return fail(EINVAL, "--span and --counter are for --format perfetto and chrome");
  }
  LT_TRY(chosen, export_format(format));
  for (const std::string& text : span_texts) {
    LT_TRY(output::SpanRule span, parse_span(text));
    spans.push_back(std::move(span));
  }
  for (const std::string& text : counter_texts) {
    LT_TRY(output::CounterRule counter, parse_counter(text));
    counters.push_back(std::move(counter));
  }
  if (!chosen->has_spans && !(spans.empty() && counters.empty())) {
    return fail(EINVAL, fmt::format("--format {} has no spans and no counters; perfetto and chrome have", format));
  }
  return {};
}

}  // namespace landtrace::cli
