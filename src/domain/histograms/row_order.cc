#include "domain/histograms/row_order.hpp"

#include <cstring>

#include "domain/histograms/keys_text.hpp"
#include "hist/kernel_sort.hpp"

namespace landtrace::domain {
namespace {

using RowPtr = const hist::Row*;

template <typename T>
int compare(T one, T other) {
  return one < other ? -1 : one > other ? 1 : 0;
}

// Of the low `size` bytes.
int compare_numbers(std::uint64_t one, std::uint64_t other, std::uint32_t size, bool is_signed) {
  const unsigned shift = 64 - 8 * size;
  one <<= shift;
  other <<= shift;
  return is_signed ? compare(static_cast<std::int64_t>(one), static_cast<std::int64_t>(other)) : compare(one, other);
}

bool is_kernel_text(const event::Field& field) {
  return field.kind == event::FieldKind::kCharArray || field.kind == event::FieldKind::kDataLocString ||
         field.kind == event::FieldKind::kRelLocString;
}

class Comparison {
 public:
  Comparison(const Histogram& histogram, const HistogramSortKey& key) : key_(key), values_(histogram.values.size()) {
    if (is_value()) return;
    field_ = histogram.sorted_field(key).get();
    offset_ = key_offsets(histogram)[key.field - values_];
    size_ = histogram.table->shape.key_sizes[key.field - values_];
  }

  int operator()(RowPtr one, RowPtr other) const {
    const int order = is_value() ? compare(value(*one), value(*other)) : compare_keys(*one, *other);
    return key_.descending ? -order : order;
  }

 private:
  [[nodiscard]] bool is_value() const { return key_.field < values_; }
  [[nodiscard]] std::uint64_t value(const hist::Row& row) const {
    return key_.field == 0 ? row.hitcount : row.sums[key_.field - 1];
  }

  [[nodiscard]] int compare_keys(const hist::Row& one, const hist::Row& other) const {
    if (field_->is_stack()) return 0;
    const bool is_computed = !field_->of_event || field_->source == FieldSource::kCpu;
    if (!is_computed && is_kernel_text(*field_->of_event)) {
      return std::strncmp(reinterpret_cast<const char*>(one.key.data()) + offset_,
                          reinterpret_cast<const char*>(other.key.data()) + offset_, size_);
    }
    const std::uint32_t size = is_computed ? 8 : field_->of_event->size;
    const bool is_signed = is_computed ? field_->is_signed : field_->of_event->is_signed;
    return compare_numbers(number_at(one.key, offset_), number_at(other.key, offset_), size, is_signed);
  }

  HistogramSortKey key_;
  std::size_t values_;
  const HistogramField* field_ = nullptr;
  std::uint32_t offset_ = 0;
  std::uint32_t size_ = 0;
};

// Rows that are equal by the first sort key, by the second one.
void sort_runs(std::vector<RowPtr>& rows, const Comparison& primary, const Comparison& secondary) {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && primary(rows[first], rows[end]) == 0) ++end;
    std::vector<RowPtr> run(rows.begin() + static_cast<std::ptrdiff_t>(first),
                            rows.begin() + static_cast<std::ptrdiff_t>(end));
    hist::sort_as_kernel(run, secondary);
    std::copy(run.begin(), run.end(), rows.begin() + static_cast<std::ptrdiff_t>(first));
    first = end;
  }
}

}  // namespace

std::vector<RowPtr> rows_in_order(const Histogram& histogram, std::span<const hist::Row> rows) {
  std::vector<RowPtr> ordered;
  for (const hist::Row& row : rows) ordered.push_back(&row);
  if (histogram.sort.empty()) return ordered;
  const Comparison primary(histogram, histogram.sort.front());
  hist::sort_as_kernel(ordered, primary);
  if (histogram.sort.size() > 1) sort_runs(ordered, primary, Comparison(histogram, histogram.sort[1]));
  return ordered;
}

}  // namespace landtrace::domain
