#include "cli/top/watched_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace landtrace::cli {
namespace {

// Of a table with a row for each function, and of one with a row for each function and power of two.
constexpr std::size_t kPowers = 24, kFewestRows = 2048, kMostRows = 131'072;

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
  LT_CHECK(session.record(false));
  const std::size_t call_rows = std::max(std::bit_ceil(set_.functions.size()), kFewestRows);
  LT_CHECK(session.select({.pattern = calls_, .triggers = {fmt::format("hist:keys=id:size={}", call_rows)}}));
  const std::size_t time_rows = std::clamp(std::bit_ceil(set_.functions.size() * kPowers), kFewestRows, kMostRows);
  return session.select(
      {.pattern = returns_,
       .triggers = {fmt::format("hist:keys=id,ns.log2:vals=ns:max=ns:onmax($max).save(id):size={}", time_rows)}});
}

Result<std::string> WatchedFunctions::text(const HistShape& /*shape*/, const WatchOptions& options,
                                           std::size_t columns) {
  // Before those that are counted first, which must not be fewer.
  LT_TRY(const auto times, session_->histograms(returns_));
  LT_TRY(const auto calls, session_->histograms(calls_));
  const auto front = [](const auto& tables) { return tables.empty() ? nullptr : &tables.front(); };
  LT_TRY(const TopView view, make_top_view(set_, front(calls), front(times), request_.order));
  return options.json ? top_json(view, request_.rows) : top_text(view, request_.rows, columns);
}

}  // namespace landtrace::cli
