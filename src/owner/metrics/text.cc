#include "metrics/text.hpp"

#include <fmt/format.h>

namespace landtrace::metrics {
namespace {

// Bytes that are no UTF-8 would spoil all of a scrape.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto goes_on = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0 && goes_on(1)) return 2;
  if (first >= 0xe0 && first < 0xf0 && goes_on(1) && goes_on(2)) {
    const unsigned value = (first & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    return value < 0x800 || (value >= 0xd800 && value < 0xe000) ? 0 : 3;
  }
  if (first >= 0xf0 && first < 0xf5 && goes_on(1) && goes_on(2) && goes_on(3)) {
    const unsigned value = (first & 7) << 18 | (byte(1) & 0x3f) << 12;
    return value < 0x10000 || value > 0x10ffff ? 0 : 4;
  }
  return 0;
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = length_of_character(text);
    if (size == 0) {
      out += "\xef\xbf\xbd";
    } else if (text[0] == '\n') {
      out += "\\n";
    } else if (text[0] == '\\' || (quotes && text[0] == '"')) {
      out.append(1, '\\').append(1, text[0]);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string labels_text(const std::vector<Label>& labels, const std::string& upper = "") {
  std::string text;
  for (const Label& label : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label.name, escaped(label.value, true));
  }
  if (!upper.empty()) text += fmt::format("{}le=\"{}\"", text.empty() ? "" : ",", upper);
  return text.empty() ? text : "{" + text + "}";
}

std::string number_text(const Number& number) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, number);
}

void append_histogram(std::string& out, const Family& family, const Series& series) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < series.buckets.size(); ++i) {
    count += series.buckets[i].count;
    const bool goes_on = i + 1 < series.buckets.size() && series.buckets[i + 1].upper == series.buckets[i].upper;
    if (goes_on) continue;
    out += fmt::format("{}_bucket{} {}\n", family.name,
                       labels_text(series.labels, fmt::format("{:.1f}", series.buckets[i].upper)), count);
  }
  out += fmt::format("{}_bucket{} {}\n", family.name, labels_text(series.labels, "+Inf"), count);
  if (series.sum)
    out += fmt::format("{}_sum{} {}\n", family.name, labels_text(series.labels), number_text(*series.sum));
  out += fmt::format("{}_count{} {}\n", family.name, labels_text(series.labels), count);
}

const char* kind_text(Family::Kind kind) {
  switch (kind) {
    case Family::Kind::kCounter:
      return "counter";
    case Family::Kind::kHistogram:
      return "histogram";
    default:
      return "gauge";
  }
}

}  // namespace

std::string text_of(const std::vector<Family>& families, TextFormat format) {
  std::string out;
  for (const Family& family : families) {
    const bool is_counter = family.kind == Family::Kind::kCounter;
    const std::string sample = is_counter ? family.name + "_total" : family.name;
    // OpenMetrics speaks of the family, the older format of its samples.
    const std::string& named = format == TextFormat::kOpenMetrics ? family.name : sample;
    out += fmt::format("# HELP {} {}\n", named, escaped(family.help, format == TextFormat::kOpenMetrics));
    out += fmt::format("# TYPE {} {}\n", named, kind_text(family.kind));
    for (const Series& series : family.series) {
      if (family.kind == Family::Kind::kHistogram) {
        append_histogram(out, family, series);
      } else {
        out += fmt::format("{}{} {}\n", sample, labels_text(series.labels), number_text(series.value));
      }
    }
  }
  if (format == TextFormat::kOpenMetrics) out += "# EOF\n";
  return out;
}

const char* content_type(TextFormat format) {
  return format == TextFormat::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                            : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace landtrace::metrics
