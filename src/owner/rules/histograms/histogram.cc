#include "rules/histograms/histogram.hpp"

#include <algorithm>

namespace landtrace::rules {
namespace {

bool are_same_fields(const std::vector<FieldPtr>& one, const std::vector<FieldPtr>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const FieldPtr& a, const FieldPtr& b) { return is_same_field(*a, *b); });
}

}  // namespace

bool is_same_histogram(const Histogram& one, const Histogram& other) {
  return are_same_fields(one.values, other.values) && are_same_fields(one.variables, other.variables) &&
         are_same_fields(one.keys, other.keys) && one.sort == other.sort &&
         std::equal(one.actions.begin(), one.actions.end(), other.actions.begin(), other.actions.end(),
                    [](const HistogramAction& a, const HistogramAction& b) { return a.text == b.text; });
}

bool has_compatible_keys(const Histogram& one, const Histogram& other) {
  return std::equal(one.keys.begin(), one.keys.end(), other.keys.begin(), other.keys.end(),
                    [](const FieldPtr& a, const FieldPtr& b) {
                      return a->type == b->type && a->size == b->size && a->is_signed == b->is_signed;
                    });
}

}  // namespace landtrace::rules
