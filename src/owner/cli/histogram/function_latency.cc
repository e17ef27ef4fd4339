#include "cli/histogram/function_latency.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/histogram/fits.hpp"

namespace landtrace::cli {
namespace {

// Threads that may call the function; of more, the calls are not measured.
constexpr unsigned kMostThreads = 16384;
constexpr std::string_view kCommon = "common_";

// "arg1" of "$arg1:s32"; "" where there is no name in it.
std::string name_in(const std::string& fetch) {
  std::string name = fetch.substr(1, fetch.find(':') - 1);
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
  return is_name ? name : "";
}

// A field of an event of ours, as a field of a synthetic event.
std::string synthetic_field(const event::Field& field) {
  constexpr std::string_view kDynamic = "__data_loc ";
  const std::string type = field.type.starts_with(kDynamic) ? field.type.substr(kDynamic.size()) : field.type;
  return fmt::format("; {} {}", type, field.name);
}

Result<output::EventType> find_type(const plan::ControlSegment& control, const std::string& event) {
  buffer::EventTable table(control);
  table.refresh();
  const auto& types = table.types();
  // Of events that were called the same, the last one.
  const auto found = std::find_if(types.rbegin(), types.rend(),
                                  [&](const auto& type) { return type.system + ":" + type.name == event; });
  if (found == types.rend()) return fail(ENOENT, "there is no " + event);
  return *found;
}

std::string with_dot(std::string event) {
  std::replace(event.begin(), event.end(), ':', '.');
  return event;
}

}  // namespace

Result<WatchedFunction::Request> WatchedFunction::request_of(const std::string& function,
                                                             const std::vector<std::string>& by) {
  constexpr std::string_view kFetches = "$%@+-\\";
  Request request;
  LT_TRY(request.function, parse_probe("--function", function));
  if (request.function.is_usdt) {
    return fail(EINVAL, fmt::format("--function: {}: a USDT place is no function; measure from one event to another",
                                    request.function.place));
  }
  if (request.function.is_return) {
    return fail(EINVAL,
                fmt::format("--function: {}: without %return, which is measured in any case", request.function.place));
  }
  for (const std::string& word : by) {
    const std::size_t equals = word.find('=');
    const bool is_fetch = !word.empty() && kFetches.find(word[0]) != std::string_view::npos;
    std::string name = is_fetch ? name_in(word) : word.substr(0, equals);
    if (name.empty()) name = fmt::format("by{}", request.by.size() + 1);
    request.by.push_back(name);
    if (!is_fetch && equals == std::string::npos) continue;
    request.function.arguments += request.function.arguments.empty() ? "" : " ";
    request.function.arguments += name + "=" + (is_fetch ? word : word.substr(equals + 1));
  }
  return request;
}

std::vector<std::string> WatchedFunction::passed_on() const {
  std::vector<std::string> names;
  for (const std::string& name : request_.by) {
    if (!name.starts_with(kCommon)) names.push_back(without_modifier(name));
  }
  return names;
}

Result<std::string> WatchedFunction::define_latency(const output::EventType& returns) {
  std::string fields = fmt::format("u64 {}", kLatencyField);
  for (const std::string& name : passed_on()) {
    const auto& declared = returns.declaration.fields;
    const auto field =
        std::find_if(declared.begin(), declared.end(), [&](const auto& one) { return one.name == name; });
    if (field != declared.end()) fields += synthetic_field(*field);
  }
  return probes_->define_synthetic(request_.function.event_name() + "_latency", fields);
}

Result<void> WatchedFunction::begin(Workplace& place, consumer::Session& session) {
  session_ = &session;
  LT_TRY(ProbeSet probes, ProbeSet::connect(place.socket(), options_.programs.as_command(options_.command)));
  probes_.emplace(std::move(probes));
  ProbeText calls = request_.function;
  options_.programs.find_object(calls);
  ProbeText returns = calls;
  calls.arguments.clear();
  returns.is_return = true;
  LT_TRY(calls_, probes_->define(calls));
  LT_TRY(returns_, probes_->define(returns));
  LT_TRY(const output::EventType type, find_type(place.view().control(), returns_));
  LT_CHECK(check_has_fields("--by", request_.by, type));
  LT_CHECK(check_filter_fits(options_.filter, type));
  LT_TRY(latency_, define_latency(type));

  LT_CHECK(session.record(false));
  std::vector<std::string> passed = passed_on(), keys = request_.by;
  passed.insert(passed.begin(), "$took");
  keys.push_back(std::string(kLatencyField) + ".log2");
  const std::string condition = options_.filter.empty() ? "" : " if " + options_.filter;
  LT_CHECK(session.select(
      {.pattern = latency_,
       .triggers = {fmt::format("hist:keys={}:vals={}{}", with_commas(keys), kLatencyField, size_text(options_))}}));
  LT_CHECK(
      session.select({.pattern = calls_,
                      .triggers = {fmt::format("hist:keys=common_pid:ts=common_timestamp:size={}", kMostThreads)}}));
  return session.select(
      {.pattern = returns_,
       .triggers = {fmt::format("hist:keys=common_pid:took=common_timestamp-$ts:size={}:onmatch({}).{}({}){}",
                                kMostThreads, with_dot(calls_), latency_.substr(latency_.find(':') + 1),
                                with_commas(passed), condition)}});
}

Result<std::uint64_t> WatchedFunction::count_of_calls() {
  LT_TRY(const auto tables, session_->histograms(calls_));
  return tables.empty() ? 0 : tables.front().hits;
}

Result<HistView> WatchedFunction::view(const HistShape& shape) {
  // Before the number of those that have returned, which must not be the larger one.
  LT_TRY(const auto tables, session_->histograms(latency_));
  LT_TRY(const std::uint64_t calls, count_of_calls());
  HistView view;
  if (!tables.empty()) {
    LT_TRY(view, make_view(shape, tables.front()));
  }
  // Those that a filter refuses have an end, too.
  if (options_.filter.empty()) view.unpaired = {.starts = calls - std::min(calls, view.hits)};
  return view;
}

}  // namespace landtrace::cli
