#include "cli/histogram/fits.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/event_rules.hpp"
#include "cli/histogram/watch_options.hpp"
#include "cli/near_names.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::cli {
namespace {

// What every event has for a histogram, besides its own fields.
constexpr std::array<std::string_view, 12> kOfEveryEvent{"common_type",
                                                         "common_flags",
                                                         "common_preempt_count",
                                                         "common_pid",
                                                         "common_timestamp",
                                                         "common_stacktrace",
                                                         "common_cpu",
                                                         "cpu",
                                                         "CPU",
                                                         "stacktrace",
                                                         "STACKTRACE",
                                                         "hitcount"};

// Anything else (an expression) is the owner's to judge.
bool is_plain_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::vector<std::string> own_fields(const output::EventType& type) {
  std::vector<std::string> names;
  for (const event::Field& field : type.declaration.fields) names.push_back(field.name);
  return names;
}

bool has_field(const output::EventType& type, const std::string& name) {
  const std::vector<std::string> own = own_fields(type);
  return std::find(own.begin(), own.end(), name) != own.end() || is_of_every_event(name);
}

std::string what_it_has(const output::EventType& type, const std::string& name) {
  const std::vector<std::string> own = own_fields(type);
  if (std::string text = did_you_mean(name, own); !text.empty()) return text;
  return own.empty() ? "; it has no fields" : fmt::format("; it has {}", fmt::join(own, ", "));
}

}  // namespace

bool is_of_every_event(const std::string& name) {
  return std::find(kOfEveryEvent.begin(), kOfEveryEvent.end(), name) != kOfEveryEvent.end();
}

Result<void> check_has_fields(const std::string& option, const std::vector<std::string>& fields,
                              const output::EventType& type) {
  std::size_t place = 0;
  for (const std::string& field : fields) {
    const std::string name = without_modifier(field);
    if (is_plain_name(name) && !has_field(type, name)) {
      const std::string mistake =
          fmt::format("{}:{} has no field '{}'{}", type.system, type.name, name, what_it_has(type, name));
      return pointed_at(option, mistake, with_commas(fields), place);
    }
    place += field.size() + 1;
  }
  return {};
}

Result<void> check_can_be_added(const std::vector<std::string>& values, const output::EventType& type) {
  std::size_t place = 0;
  for (const std::string& value : values) {
    const auto& fields = type.declaration.fields;
    const std::string name = without_modifier(value);
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each.name == name; });
    if (field != fields.end() && field->kind != event::FieldKind::kInteger) {
      const char* const what =
          event::is_float(*field) || event::is_double(*field) ? "a floating-point number" : "no number";
      return pointed_at("--vals", fmt::format("'{}' is {}, and cannot be added up", name, what), with_commas(values),
                        place);
    }
    place += value.size() + 1;
  }
  return {};
}

Result<void> check_filter_fits(const std::string& filter, const output::EventType& type) {
  if (filter.empty()) return {};
  const auto cpus = static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1l));
  const auto program = language::compile_filter(filter, {.fields = type.declaration.fields, .cpus = cpus});
  if (program || program.error().kind == language::FilterFailureKind::kNoFunction) return {};
  return point_at_filter("--filter", filter, filter, program.error());
}

}  // namespace landtrace::cli
