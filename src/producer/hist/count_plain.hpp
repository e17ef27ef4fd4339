// Histograms as most are: by one field that is a number, and what is summed up are fields that are numbers. They count
// without all that the others need (evaluate.hpp).
#pragma once

#include "abi/entry.hpp"
#include "hist/table.hpp"

namespace landtrace::hist {

namespace detail {
inline std::uint64_t field_number(const HistPlan& plan, const Operand& operand, const abi::Payload& payload) {
  const Op& field = plan.at<Op>(plan.ops)[operand.index];
  return payload.number(field.offset, field.size, field.is_signed);
}
}  // namespace detail

// `data` is the data segment to which the offsets of tables refer. The plan is_plain and not paused. Async-signal-safe.
inline void count_plain(const HistPlan& plan, std::byte* data, const abi::Payload& payload) {
  const std::uint64_t key = detail::field_number(plan, plan.at<Key>(plan.keys)->operand, payload);
  std::byte* const element = Table(data + plan.table, plan.layout).find_or_insert_word(key);
  if (element == nullptr) return;
  detail::count_hit(element + plan.layout.hitcount_at());
  const Operand* const values = plan.at<Operand>(plan.values);
  std::byte* sum = element + plan.layout.sums_at();
  for (std::uint32_t i = 0; i < plan.value_count; ++i, sum += 8) {
    detail::add_to_word(sum, detail::field_number(plan, values[i], payload));
  }
}

}  // namespace landtrace::hist
