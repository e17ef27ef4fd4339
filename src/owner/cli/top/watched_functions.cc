#include "cli/top/watched_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace landtrace::cli {
namespace {

// Of a table with a row for each thread and function that it called.
constexpr unsigned kCallRows = 131'072;
// Of one with a row for each function and power of two.
constexpr std::size_t kPowers = 24, kFewestTimeRows = 2048, kMostTimeRows = 131'072;

std::string with_dot(std::string event) {
  std::replace(event.begin(), event.end(), ':', '.');
  return event;
}

std::vector<ProbeSet::NumberedPlace> places_of(const FunctionSet& set) {
  std::vector<ProbeSet::NumberedPlace> places;
  for (const TopFunction& function : set.functions) places.push_back({function.path, function.offset});
  return places;
}

}  // namespace

Result<void> WatchedFunctions::begin(Workplace& place, consumer::Session& session) {
  session_ = &session;
  LT_TRY(ProbeSet probes, ProbeSet::connect(place.socket(), options_.command));
  probes_.emplace(std::move(probes));
  const auto places = places_of(set_);
  LT_TRY(calls_, probes_->define_numbered("top_calls", places, ProbeSet::Side::kCall));
  LT_TRY(returns_, probes_->define_numbered("top_returns", places, ProbeSet::Side::kReturn));
  LT_TRY(times_, probes_->define_synthetic("top", "u64 ns; u32 id"));
  LT_CHECK(session.record(false));
  const std::size_t time_rows =
      std::clamp(std::bit_ceil(set_.functions.size() * kPowers), kFewestTimeRows, kMostTimeRows);
  LT_CHECK(session.select(
      {.pattern = times_,
       .triggers = {fmt::format("hist:keys=id,ns.log2:vals=ns:max=ns:onmax($max).save(id):size={}", time_rows)}}));
  LT_CHECK(
      session.select({.pattern = calls_,
                      .triggers = {fmt::format("hist:keys=common_pid,id:ts=common_timestamp:size={}", kCallRows)}}));
  return session.select(
      {.pattern = returns_,
       .triggers = {fmt::format("hist:keys=common_pid,id:took=common_timestamp-$ts:size={}:onmatch({}).{}($took,id)",
                                kCallRows, with_dot(calls_), times_.substr(times_.find(':') + 1))}});
}

Result<std::string> WatchedFunctions::text(const HistShape& /*shape*/, const WatchOptions& options,
                                           std::size_t columns) {
  // Before those that are counted first, which must not be fewer.
  LT_TRY(const auto times, session_->histograms(times_));
  LT_TRY(const auto calls, session_->histograms(calls_));
  const auto front = [](const auto& tables) { return tables.empty() ? nullptr : &tables.front(); };
  LT_TRY(const TopView view, make_top_view(set_, front(calls), front(times), request_.order));
  return options.json ? top_json(view, request_.rows) : top_text(view, request_.rows, columns);
}

}  // namespace landtrace::cli
