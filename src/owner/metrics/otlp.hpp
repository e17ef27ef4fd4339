// Families as OTLP/HTTP has them: opentelemetry-proto's metrics as JSON.
#pragma once

#include <string>

#include "metrics/families.hpp"

namespace landtrace::metrics {

struct OtlpTimes {
  std::uint64_t started_ns = 0;  // since 1970: when what is counted began
  std::uint64_t now_ns = 0;
};

std::string otlp_json(const std::vector<Family>& families, const OtlpTimes& times, const std::string& host);

}  // namespace landtrace::metrics
