#include "rules/histograms/row_order.hpp"

#include <cstring>

#include "rules/histograms/keys.hpp"
#include "language/histogram/kernel_sort.hpp"

namespace landtrace::rules {
namespace {

using RowPtr = const language::TableRow*;

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
  [[nodiscard]] bool is_descending() const { return key_.descending; }

  [[nodiscard]] std::uint64_t rank(const language::TableRow& row) const {
    if (is_value()) return key_.field == 0 ? row.hitcount : row.sums[key_.field - 1];
    return is_stack_ ? 0 : rank_of(number_at(row.key, offset_), size_, is_signed_);
  }
  [[nodiscard]] int compare_texts(const language::TableRow& one, const language::TableRow& other) const {
    return std::strncmp(reinterpret_cast<const char*>(one.key.data()) + offset_,
                        reinterpret_cast<const char*>(other.key.data()) + offset_, size_);
  }

 private:
  [[nodiscard]] bool is_value() const { return key_.field < values_; }

  HistogramSortKey key_;
  std::size_t values_;
  std::uint32_t offset_ = 0;
  std::uint32_t size_ = 0;
  bool is_signed_ = false;
  bool is_stack_ = false;
  bool is_text_ = false;
};

// With its rank beside it: a million rows are not looked up for every comparison.
struct Ranked {
  std::uint64_t rank;
  RowPtr row;
};

int compare(const Comparison& by, const Ranked& one, const Ranked& other) {
  const int order = by.is_text() ? by.compare_texts(*one.row, *other.row)
                                 : (one.rank > other.rank ? 1 : 0) - (one.rank < other.rank ? 1 : 0);
  return by.is_descending() ? -order : order;
}

void sort(std::vector<Ranked>& rows, const Comparison& by) {
  if (!by.is_text()) {
    for (Ranked& ranked : rows) ranked.rank = by.rank(*ranked.row);
  }
  language::sort_as_kernel(rows, [&by](const Ranked& one, const Ranked& other) { return compare(by, one, other); });
}

// Rows that are equal by the first sort key, by the second one.
void sort_runs(std::vector<Ranked>& rows, const Comparison& primary, const Comparison& secondary) {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && compare(primary, rows[first], rows[end]) == 0) ++end;
    std::vector<Ranked> run(rows.begin() + static_cast<std::ptrdiff_t>(first),
                            rows.begin() + static_cast<std::ptrdiff_t>(end));
    sort(run, secondary);
    std::copy(run.begin(), run.end(), rows.begin() + static_cast<std::ptrdiff_t>(first));
    first = end;
  }
}

}  // namespace

std::vector<RowPtr> rows_in_order(const Histogram& histogram, std::span<const language::TableRow> rows) {
  std::vector<Ranked> ordered;
  ordered.reserve(rows.size());
  for (const language::TableRow& row : rows) ordered.push_back({0, &row});
  if (!histogram.sort.empty()) {
    const Comparison primary(histogram, histogram.sort.front());
    sort(ordered, primary);
    if (histogram.sort.size() > 1) sort_runs(ordered, primary, Comparison(histogram, histogram.sort[1]));
  }
  std::vector<RowPtr> in_order;
  in_order.reserve(ordered.size());
  for (const Ranked& ranked : ordered) in_order.push_back(ranked.row);
  return in_order;
}

}  // namespace landtrace::rules
