#include "rules/histograms/sort_keys.hpp"

#include "language/words.hpp"

namespace landtrace::rules {
namespace {

using language::HistMistake;

constexpr std::string_view kAttribute = "sort=";

Result<bool> is_descending(const std::optional<std::string_view>& direction, language::HistComplaints& complaints) {
  if (!direction || *direction == "ascending") return false;
  if (*direction == "descending") return true;
  return complaints.refuse(HistMistake::kSortModifier, *direction);
}

// The number of the value or key.
std::optional<std::size_t> find(const Histogram& histogram, std::string_view name) {
  if (name == "hitcount") return 0;
  for (std::size_t i = 1; i < histogram.values.size() + histogram.keys.size(); ++i) {
    if (name == name_of(*histogram.sorted_field({i, false}))) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<HistogramSortKey>> find_sort_keys(const Histogram& histogram, language::HistComplaints& complaints) {
  std::vector<HistogramSortKey> sort;
  if (!histogram.attributes.sort) return std::vector<HistogramSortKey>{{}};
  std::optional<std::string_view> rest = *histogram.attributes.sort;
  while (rest) {
    std::optional<std::string_view> part = language::take_until(rest, ",");
    if (part->empty()) return complaints.refuse(HistMistake::kEmptySortField, kAttribute);
    if (sort.size() + 1 == language::kMostHistSortKeys && rest) {
      return complaints.refuse(HistMistake::kTooManySortFields, kAttribute);
    }
    const std::string_view name = language::take_until(part, ".");
    if (name.empty()) return complaints.refuse(HistMistake::kEmptySortField, kAttribute);
    const auto field = find(histogram, name);
    if (!field) return complaints.refuse(HistMistake::kInvalidSortField, name);
    LT_TRY(const bool descending, is_descending(part, complaints));
    sort.push_back({*field, descending});
  }
  return sort;
}

}  // namespace landtrace::rules
