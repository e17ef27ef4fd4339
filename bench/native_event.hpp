// The native event of most rows: 16 bytes of payload.
#pragma once

#include <landtrace/landtrace.hpp>

#include <cstdint>

namespace landtrace::bench {

using Recorded = Event<"bench_recorded", Field<"a", std::uint64_t>, Field<"b", std::uint64_t>>;
using Disabled = Event<"bench_disabled", Field<"a", std::uint64_t>, Field<"b", std::uint64_t>>;

}  // namespace landtrace::bench
