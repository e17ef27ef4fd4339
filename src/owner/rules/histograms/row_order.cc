#include "rules/histograms/row_order.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/large_pages.hpp"
#include "rules/histograms/keys.hpp"
#include "language/histogram/kernel_sort.hpp"
#include "language/histogram/ranked.hpp"

namespace landtrace::rules {
namespace {

using language::Ranked;

// What the low `size` bytes are ordered by.
std::uint64_t rank_of(std::uint64_t number, std::uint32_t size, bool is_signed) {
  constexpr std::uint64_t kSign = 1ull << 63;
  const std::uint64_t at_top = number << (64 - 8 * size);
  return is_signed ? at_top ^ kSign : at_top;
}

bool is_kernel_text(const event::Field& field) {
  return field.kind == event::FieldKind::kCharArray || field.kind == event::FieldKind::kDataLocString ||
         field.kind == event::FieldKind::kRelLocString;
}

// What a sort key says about rows: those of numbers have a rank, texts are compared.
class Comparison {
 public:
  Comparison(const Histogram& histogram, const HistogramSortKey& key) : key_(key), values_(histogram.values.size()) {
    if (is_value()) return;
    const HistogramField& field = *histogram.sorted_field(key);
    offset_ = key_offsets(histogram)[key.field - values_];
    const bool is_computed = !field.of_event || field.source == FieldSource::kCpu;
    is_stack_ = field.is_stack();
    is_text_ = !is_stack_ && !is_computed && is_kernel_text(*field.of_event);
    size_ = is_text_ ? histogram.table->shape.key_sizes[key.field - values_] : is_computed ? 8 : field.of_event->size;
    is_signed_ = is_computed ? field.is_signed : field.of_event->is_signed;
  }

  [[nodiscard]] bool is_text() const { return is_text_; }

  [[nodiscard]] std::uint64_t rank(const language::TableRow& row) const {
    const std::uint64_t rank = ascending_rank(row);
    return key_.descending ? ~rank : rank;
  }
  [[nodiscard]] int compare_texts(const language::TableRow& one, const language::TableRow& other) const {
    const int order = std::strncmp(reinterpret_cast<const char*>(one.key.data()) + offset_,
                                   reinterpret_cast<const char*>(other.key.data()) + offset_, size_);
    return key_.descending ? -order : order;
  }

 private:
  [[nodiscard]] bool is_value() const { return key_.field < values_; }
  [[nodiscard]] std::uint64_t ascending_rank(const language::TableRow& row) const {
    if (is_value()) return key_.field == 0 ? row.hitcount : row.sums[key_.field - 1];
    return is_stack_ ? 0 : rank_of(number_at(row.key, offset_), size_, is_signed_);
  }

  HistogramSortKey key_;
  std::size_t values_;
  std::uint32_t offset_ = 0;
  std::uint32_t size_ = 0;
  bool is_signed_ = false;
  bool is_stack_ = false;
  bool is_text_ = false;
};

class Sorting {
 public:
  explicit Sorting(const language::TableRows& rows) : rows_(rows) {}

  std::vector<Ranked> sort(const Comparison& primary, const Comparison* secondary) const {
    std::vector<Ranked> order;
    reserve_large(order, rows_.size());
    order.resize(rows_.size());
    std::for_each(order.begin(), order.end(), [i = 0u](Ranked& one) mutable { one.row = i++; });
    if (order.size() <= language::kMostRowsOfKernel) {
      sort_as_kernel(order, primary);
      if (secondary != nullptr) sort_runs(order, primary, *secondary);
    } else {
      if (secondary != nullptr) sort_stably(order, *secondary);
      sort_stably(order, primary);
    }
    return order;
  }

 private:
  void rank(std::vector<Ranked>& order, const Comparison& by) const {
    for (Ranked& one : order) one.rank = by.rank(rows_[one.row]);
  }

  [[nodiscard]] int compare(const Comparison& by, const Ranked& one, const Ranked& other) const {
    if (by.is_text()) return by.compare_texts(rows_[one.row], rows_[other.row]);
    return (one.rank > other.rank ? 1 : 0) - (one.rank < other.rank ? 1 : 0);
  }

  void sort_as_kernel(std::vector<Ranked>& order, const Comparison& by) const {
    if (!by.is_text()) rank(order, by);
    language::sort_as_kernel(order, [&](const Ranked& one, const Ranked& other) { return compare(by, one, other); });
  }

  // Rows that are equal by the first sort key, by the second one.
  void sort_runs(std::vector<Ranked>& order, const Comparison& primary, const Comparison& secondary) const {
    for (auto first = order.begin(); first != order.end();) {
      const auto end =
          std::find_if(first + 1, order.end(), [&](const Ranked& one) { return compare(primary, *first, one) != 0; });
      std::vector<Ranked> run(first, end);
      sort_as_kernel(run, secondary);
      first = std::copy(run.begin(), run.end(), first);
    }
  }

  void sort_stably(std::vector<Ranked>& order, const Comparison& by) const {
    if (by.is_text()) {
      std::stable_sort(order.begin(), order.end(),
                       [&](const Ranked& one, const Ranked& other) { return compare(by, one, other) < 0; });
    } else {
      rank(order, by);
      language::sort_by_rank(order);
    }
  }

  const language::TableRows& rows_;
};

}  // namespace

std::vector<std::uint32_t> rows_in_order(const Histogram& histogram, const language::TableRows& rows) {
  std::vector<std::uint32_t> in_order;
  reserve_large(in_order, rows.size());
  in_order.resize(rows.size());
  if (histogram.sort.empty()) {
    std::iota(in_order.begin(), in_order.end(), 0u);
    return in_order;
  }
  const Comparison primary(histogram, histogram.sort.front());
  std::optional<Comparison> secondary;
  if (histogram.sort.size() > 1) secondary.emplace(histogram, histogram.sort[1]);
  const auto order = Sorting(rows).sort(primary, secondary ? &*secondary : nullptr);
  std::transform(order.begin(), order.end(), in_order.begin(), [](const Ranked& one) { return one.row; });
  return in_order;
}

}  // namespace landtrace::rules
