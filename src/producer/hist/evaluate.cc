#include "hist/evaluate.hpp"

#include <ctime>

#include "arch/scaled_time.hpp"
#include "hist/count_plain.hpp"
#include "hist/run_actions.hpp"
#include "hist/operands.hpp"
#include "hist/table.hpp"

namespace landtrace::hist {
namespace {

constexpr std::uint8_t kSet = 1;
std::uint8_t* set_byte(std::byte* element, const Place& place) {
  return reinterpret_cast<std::uint8_t*>(element + place.set_at);
}

void make_key(const HistPlan& plan, const Operands& operands, std::uint64_t* key) {
  const Key* const parts = plan.at<Key>(plan.keys);
  for (std::uint32_t i = 0; i < plan.key_count; ++i) {
    const Key& part = parts[i];
    std::uint64_t* const to = key + part.at / 8;
    switch (part.operand.type) {
      case ValueType::kNumber:
        *to = operands.number(part.operand);
        break;
      case ValueType::kText:
        operands.text(part.operand, to, part.size);
        break;
      case ValueType::kStack:
        operands.stack(part.operand, to);
        break;
    }
  }
}

// True where the variable is there and set. Of two events that read one `once`, one gets it.
bool resolve(const Reference& reference, std::uint32_t index, std::byte* data, const std::uint64_t* key,
             std::uint32_t key_size, Operands& operands) {
  if (reference.layout.key_size > key_size) return false;
  std::byte* const element = Table(data + reference.table, reference.layout).find(key);
  if (element == nullptr) return false;
  std::uint8_t* const set = set_byte(element, reference.place);
  // Both pair with the release store in set_variables(): what the variable is set to is there.
  if (__atomic_load_n(set, __ATOMIC_ACQUIRE) == 0) return false;
  if (reference.once != 0 && __atomic_exchange_n(set, 0, __ATOMIC_ACQUIRE) == 0) return false;
  const std::byte* const place = element + reference.place.at;
  if (reference.place.type == ValueType::kNumber) {
    operands.set_reference(index, detail::load_word(place));
  } else {
    operands.set_reference(index, place);
  }
  return true;
}

bool resolve_all(const HistPlan& plan, std::byte* data, const std::uint64_t* key, Operands& operands) {
  const Reference* const references = plan.at<Reference>(plan.references);
  for (std::uint32_t i = 0; i < plan.reference_count; ++i) {
    if (!resolve(references[i], i, data, key, plan.layout.key_size, operands)) return false;
  }
  return true;
}

void set_variables(const HistPlan& plan, Operands& operands, std::byte* element) {
  const Variable* const variables = plan.at<Variable>(plan.variables);
  for (std::uint32_t i = 0; i < plan.variable_count; ++i) {
    const Variable& variable = variables[i];
    if (variable.place.type == ValueType::kNumber) {
      const std::uint64_t number = operands.number(variable.operand);
      operands.set_variable(i, number);
      detail::store_word(element + variable.place.at, number);
    } else {
      store_large(operands, variable.operand, element + variable.place.at);
    }
    // Pairs with the acquires in resolve(), and in is_set() of table_reader.cc.
    __atomic_store_n(set_byte(element, variable.place), kSet, __ATOMIC_RELEASE);
  }
}

}  // namespace

void Moment::read(std::uint8_t clock) {
  clock_ = clock;
  is_known_ = true;
  const bool is_counter = raw_ == arch::RawClock::kTsc;
  const bool can_hold = is_counter && area_ != nullptr;
  if (can_hold) arch::hold_time(area_);
  std::uint64_t counter = 0;
  if (clock == kRawClock) {
    counter = time_ = arch::read_raw_clock(raw_);
  } else {
    // The system's own clocks, and not what the raw clock was when the domain began: times of several programs are
    // compared with one another, and this is exact in all of them, however long they run.
    time_ = clock == CLOCK_MONOTONIC && is_counter ? arch::scaled_time.ns(counter) : arch::system_clock_ns(clock);
  }
  held_ = can_hold ? counter : 0;
  if (can_hold && counter == 0) arch::let_time_go(area_);
}

void count(const HistPlan& plan, std::byte* data, const Event& event) {
  if (plan.is_plain) return count_plain(plan, data, event.payload);
  Operands operands(plan, event);
  std::uint64_t key[kMaxKeySize / 8];
  make_key(plan, operands, key);
  if (plan.reference_count != 0 && !resolve_all(plan, data, key, operands)) return;
  Table table(data + plan.table, plan.layout);
  std::byte* const element = table.find_or_insert(key, [&] { return event.surroundings.comm(); });
  if (element == nullptr) return;
  detail::count_hit(element + plan.layout.hitcount_at());
  const Operand* const values = plan.at<Operand>(plan.values);
  std::byte* sum = element + plan.layout.sums_at();
  for (std::uint32_t i = 0; i < plan.value_count; ++i, sum += 8) detail::add_to_word(sum, operands.number(values[i]));
  if ((plan.variable_count | plan.action_count) == 0) return;
  operands.set_element(element);
  set_variables(plan, operands, element);
  if (plan.action_count != 0) run_actions(plan, table, operands, event.surroundings, element);
}

}  // namespace landtrace::hist
