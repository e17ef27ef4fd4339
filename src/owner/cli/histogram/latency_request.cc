#include "cli/histogram/latency_request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace landtrace::cli {
namespace {

std::string dotted(std::string event) {
  std::replace(event.begin(), event.end(), ':', '.');
  return event;
}

// How a synthetic event declares what it gets from this field.
std::string synthetic_type(const event::Field& field) {
  switch (field.kind) {
    case event::FieldKind::kCharArray:
    case event::FieldKind::kDataLocString:
    case event::FieldKind::kRelLocString:
      return "char[]";
    default:
      return fmt::format("{}{}", field.is_signed ? 's' : 'u', field.size * 8);
  }
}

}  // namespace

std::string start_trigger(const LatencyOptions& options) {
  return fmt::format("hist:keys={}:landtrace_t0=common_timestamp{}", options.key, trigger_end(options));
}

std::string end_trigger(const LatencyOptions& options, const std::string& name) {
  const std::string& key = options.to_key.empty() ? options.key : options.to_key;
  std::string by;
  for (const std::string& field : options.by) by += "," + field;
  return fmt::format("hist:keys={}:landtrace_dt=common_timestamp-$landtrace_t0:onmatch({}).trace({},$landtrace_dt{}){}",
                     key, dotted(full_event_name(options.from)), name, by, size_text(options));
}

std::string spread_trigger(const LatencyOptions& options) {
  std::vector<std::string> keys = options.by;
  keys.push_back(std::string(kLatencyField) + ".log2");
  return fmt::format("hist:keys={}:vals={}{}", with_commas(keys), kLatencyField, size_text(options));
}

Result<std::string> definition_of(const LatencyOptions& options, const std::string& name, const output::EventType& to) {
  std::string text = fmt::format("{} u64 {}", name, kLatencyField);
  for (const std::string& wanted : options.by) {
    const auto& fields = to.declaration.fields;
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.name == wanted; });
    if (found == fields.end()) {
      return fail(EINVAL, fmt::format("--by: {} has no field '{}'", full_event_name(options.to), wanted));
    }
    text += fmt::format("; {} {}", synthetic_type(*found), wanted);
  }
  return text;
}

}  // namespace landtrace::cli
