// Histograms of events as metrics.
//
// A histogram with a key in buckets (.log2, .buckets=N, …) is a histogram there: its other keys are labels. One without
// is a counter by its keys. What is added up is a counter of its own, or the histogram's sum, if it is of the field
// that is in buckets. `hist:name=NAME:…` is landtrace_NAME, with a suffix where that is taken by another family
// or its samples; those without a name are told apart by labels.
#pragma once

#include <compare>
#include <map>
#include <set>

#include "metrics/families.hpp"

namespace landtrace::metrics {

class HistogramFamilies {
 public:
  // `others` are families that there are besides.
  explicit HistogramFamilies(const std::vector<Family>& others);

  // All of them at once: names that become alike get their suffixes in an order that is the same each time.
  void add(const std::vector<HistogramFigures>& histograms);
  // Rows that were left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  std::vector<Family> take();

 private:
  // What a family is of, whatever it is called.
  struct Subject {
    std::string histogram;  // its name as it was given; "" for those without
    std::string value;      // "" for how often
    std::string wanted_name;
    Family::Kind kind;
    auto operator<=>(const Subject&) const = default;
  };

  void add_one(const HistogramFigures& histogram);
  Family& family(const Subject& subject, const std::string& help);
  bool take_name(const std::string& name, Family::Kind kind);
  void put(Family& family, Series series);

  std::map<Subject, Family> families_;
  std::set<std::string> taken_;                                     // names of families and of their samples
  std::map<std::string, std::map<std::string, std::size_t>> seen_;  // of a family, by its labels
  std::map<std::string, std::string> shared_;                       // named histograms: whose table was taken
  std::uint64_t left_out_ = 0;
};

}  // namespace landtrace::metrics
