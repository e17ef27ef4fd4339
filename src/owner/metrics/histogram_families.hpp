// Histograms of events as metrics.
//
// A histogram with a key in buckets (.log2, .buckets=N, …) is a histogram there: its other keys are labels. One without
// is a counter by its keys. What is added up is a counter of its own, or the histogram's sum, if it is of the field
// that is in buckets. `hist:name=NAME:…` is landtrace_NAME; those without a name are told apart by labels.
#pragma once

#include <map>

#include "metrics/families.hpp"

namespace landtrace::metrics {

class HistogramFamilies {
 public:
  void add(const HistogramFigures& histogram);
  // Rows that were left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  std::vector<Family> take();

 private:
  Family& family(const std::string& name, const std::string& help, Family::Kind kind);
  void put(Family& family, Series series);

  std::map<std::string, Family> families_;
  std::map<std::string, std::map<std::string, std::size_t>> seen_;  // of a family, by its labels
  std::map<std::string, std::string> shared_;                       // named histograms: whose table was taken
  std::uint64_t left_out_ = 0;
};

}  // namespace landtrace::metrics
