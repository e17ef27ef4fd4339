// Histograms from the pieces in which an owner tells of them.
#pragma once

#include <functional>
#include <vector>

#include "ipc/histogram_table.hpp"
#include "ipc/socket.hpp"

namespace landtrace::consumer {

// More than any histograms have; the owner may be another user's program.
inline constexpr std::uint64_t kMaxHistogramBytes = 1u << 30;

// `ask(n)` asks for the bytes from `n` on (ipc::Operation::kHistograms). Its errors are handed on. EPROTO for an
// owner that never comes to an end, or whose bytes make no sense.
Result<std::vector<ipc::HistogramTable>> gather_histograms(
    const std::function<Result<ipc::Answer>(std::uint64_t)>& ask);

}  // namespace landtrace::consumer
