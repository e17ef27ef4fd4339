// The events of the rows of histograms.
#pragma once

#include <landtrace/landtrace.hpp>

#include <cstdint>

namespace landtrace::bench {

inline constexpr std::uint32_t kManyKeys = 1'000'000;

template <landtrace::detail::Literal Name>
using Counted = Event<Name, Field<"id", std::uint32_t>, Field<"value", std::uint64_t>>;
using HistCount = Counted<"bench_hist_count">;
using HistStart = Counted<"bench_hist_start">;
using HistDone = Counted<"bench_hist_done">;
using HistRecorded = Counted<"bench_hist_recorded">;
using HistMade = Event<"bench_hist_made", Field<"id", std::uint64_t>, Field<"value", std::uint64_t>>;

}  // namespace landtrace::bench
