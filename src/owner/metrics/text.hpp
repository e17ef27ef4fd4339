// Families as text, for scrapers: Prometheus' format 0.0.4, or OpenMetrics 1.0.
#pragma once

#include <string>

#include "metrics/families.hpp"

namespace landtrace::metrics {

enum class TextFormat : std::uint8_t { kPrometheus, kOpenMetrics };

std::string text_of(const std::vector<Family>& families, TextFormat format);
// As of HTTP's Content-Type.
const char* content_type(TextFormat format);

}  // namespace landtrace::metrics
