// Metrics as the field has them: families of series with labels, of which each format is a way to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "metrics/figures.hpp"

namespace landtrace::metrics {

struct Label {
  std::string name;
  std::string value;

  friend bool operator==(const Label&, const Label&) = default;
};

using Number = std::variant<std::uint64_t, std::int64_t, double>;

// Values v <= upper that are in no bucket before.
struct Bucket {
  double upper = 0;
  std::uint64_t count = 0;

  friend bool operator==(const Bucket&, const Bucket&) = default;
};

struct Series {
  std::vector<Label> labels;
  Number value{std::uint64_t{0}};  // of a histogram: how many values it has
  std::vector<Bucket> buckets{};   // of a histogram, the lowest first
  std::optional<Number> sum{};     // … where it is known
};

struct Family {
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram };
  std::string name;  // without the suffix of counters, "_total"
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<Series> series{};
};

// More than that a family does not have: who has keys without end gets no scrape without end. How many rows were left
// out is a metric, too.
inline constexpr std::size_t kMostSeries = 10'000;

std::vector<Family> families_of(const Figures& figures);

}  // namespace landtrace::metrics
