#include "cli/histogram/function_latency.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/histogram/fits.hpp"
#include "measure/pairs.hpp"
#include "cli/probes/parameters.hpp"

namespace landtrace::cli {
namespace {

// "arg1" of "$arg1:s32"; "" where there is no name in it.
std::string name_in(const std::string& fetch) {
  std::string name = fetch.substr(1, fetch.find(':') - 1);
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
  return is_name ? name : "";
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
  if (request.function.is_pattern()) {
    return fail(EINVAL,
                fmt::format("--function: {}: want one function: calls of several that call each other could not "
                            "be told apart",
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

Result<void> WatchedFunction::begin(Workplace& place, consumer::Session& session) {
  session_ = &session;
  LT_TRY(ProbeSet probes, ProbeSet::connect(place.socket(), options_.programs.as_command(options_.command)));
  probes_.emplace(std::move(probes));
  ProbeText returns = request_.function;
  options_.programs.find_object(returns);
  returns.is_return = true;
  const std::string elapsed = fmt::format("{}=$elapsed:u64", kLatencyField);
  returns.arguments = returns.arguments.empty() ? elapsed : elapsed + " " + returns.arguments;
  const std::vector<std::string> added = add_parameters(returns, request_.by);
  auto event = probes_->define(returns);
  if (!event && added.empty()) return tl::unexpected<Error>(event.error());
  if (!event) return no_such_parameters("--by", returns, added, event.error());
  returns_ = *std::move(event);
  LT_TRY(const output::EventType type, find_type(place.view().control(), returns_));
  LT_CHECK(check_has_fields("--by", request_.by, type));
  LT_CHECK(check_filter_fits(options_.filter, type));
  LT_CHECK(session.record(false));
  std::vector<std::string> keys = request_.by;
  keys.push_back(fmt::format("{}.log2={}", kLatencyField, measure::Pairs::kSteps));
  // Steps take rows, too.
  const std::string size = options_.size == 0 ? ":size=16384" : size_text(options_);
  const std::string condition = options_.filter.empty() ? "" : " if " + options_.filter;
  return session.select(
      {.pattern = returns_,
       .triggers = {fmt::format("hist:keys={}:vals={}{}{}", with_commas(keys), kLatencyField, size, condition)}});
}

Result<HistView> WatchedFunction::view(const HistShape& shape) {
  // Before the number of those that were called, which must not be the smaller one.
  LT_TRY(const auto tables, session_->histograms(returns_));
  LT_TRY(const std::uint64_t calls, probes_->hits(returns_));
  HistView view;
  if (!tables.empty()) {
    LT_TRY(view, make_view(shape, tables.front()));
  }
  // Those that a filter refuses have an end, too.
  if (options_.filter.empty()) view.unpaired = {.starts = calls - std::min(calls, view.hits)};
  return view;
}

}  // namespace landtrace::cli
