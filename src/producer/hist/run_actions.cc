#include "hist/run_actions.hpp"

namespace landtrace::hist {
namespace {

constexpr std::uint64_t kTagUnit = 1ull << 32;

std::uint64_t* word_at(std::byte* at) { return reinterpret_cast<std::uint64_t*>(at); }

// Stores the larger of the two. True where `number` is that.
bool raise(std::uint64_t* word, std::uint64_t number) {
  std::uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (now < number) {
    if (__atomic_compare_exchange_n(word, &now, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

// Whether the handler has something to do. As in the kernel, the value before the first event counts as 0.
bool is_news(Handler handler, std::uint64_t* word, std::uint64_t number) {
  if (handler == Handler::kOnMax) return raise(word, number);
  return __atomic_load_n(word, __ATOMIC_RELAXED) != number &&
         __atomic_exchange_n(word, number, __ATOMIC_RELAXED) != number;
}

// The kind of memcpy that knows its size is one store.
void store_number(std::byte* to, std::uint64_t number, std::uint32_t size) {
  switch (size) {
    case 1:
      std::memcpy(to, &number, 1);
      break;
    case 2:
      std::memcpy(to, &number, 2);
      break;
    case 4:
      std::memcpy(to, &number, 4);
      break;
    default:
      std::memcpy(to, &number, 8);
      break;
  }
}

class ActionRunner {
 public:
  ActionRunner(const HistPlan& plan, Table& table, const Operands& operands, Surroundings& surroundings,
               std::byte* element)
      : plan_(plan), table_(table), operands_(operands), surroundings_(surroundings), element_(element) {}

  void run_all() {
    const Action* const actions = plan_.at<Action>(plan_.actions);
    for (std::uint32_t i = 0; i < plan_.action_count; ++i) run(actions[i], i);
  }

 private:
  void run(const Action& action, std::uint32_t number) {
    std::uint64_t tracked = 0;
    if (action.handler != Handler::kOnMatch) {
      tracked = operands_.number(action.tracked);
      if (!is_news(action.handler, word_at(element_ + action.tracked_at), tracked)) return;
    }
    switch (action.deed) {
      case Deed::kTrace:
        return action.max_size <= kSmallPayload ? trace<kSmallPayload>(action) : trace<kMaxSyntheticPayload>(action);
      case Deed::kSave:
        return save(action);
      case Deed::kSnapshot:
        return take_snapshot(action, number, tracked);
    }
  }

  [[nodiscard]] const Param* params_of(const Action& action) const {
    return plan_.at<Param>(plan_.params) + action.params;
  }

  // -- trace ------------------------------------------------------------------------------------------------------
  // Most payloads are small, and so may be the stack of the thread.
  static constexpr std::uint32_t kSmallPayload = 512;

  template <std::uint32_t kSize>
  [[gnu::noinline]] void trace(const Action& action) {
    alignas(8) std::byte payload[kSize];
    std::memset(payload, 0, action.fixed_size);
    std::uint32_t end = action.fixed_size;
    const Param* const params = params_of(action);
    for (std::uint32_t i = 0; i < action.param_count; ++i) {
      const Param& param = params[i];
      if (param.is_dynamic) {
        put_dynamic(param, payload, end);
      } else if (param.operand.type == ValueType::kNumber) {
        store_number(payload + param.at, operands_.number(param.operand), param.size);
      } else {
        operands_.text(param.operand, payload + param.at, param.size);
      }
    }
    if (!surroundings_.make_event(action.target, payload, end)) {
      __atomic_fetch_add(&table_.header().lost, 1, __ATOMIC_RELAXED);
    }
  }

  // The builder has seen to it that there is room for the longest.
  void put_dynamic(const Param& param, std::byte* payload, std::uint32_t& end) const {
    std::uint32_t begin = end;
    std::uint32_t size = 0;
    if (param.operand.type == ValueType::kText) {
      size = operands_.text(param.operand, payload + begin, kTextSize) + 1;
    } else {
      begin = (end + 7) & ~7u;
      std::memset(payload + end, 0, begin - end);
      std::uint64_t frames[kStackFrames];
      size = operands_.stack(param.operand, frames) * 8;
      std::memcpy(payload + begin, frames, size);
    }
    const std::uint32_t location = abi::location_word(abi::kEntryHeaderSize + begin, size);
    std::memcpy(payload + param.at, &location, sizeof location);
    end = begin + size;
  }

  // -- save -------------------------------------------------------------------------------------------------------
  void save(const Action& action) {
    const Param* const params = params_of(action);
    for (std::uint32_t i = 0; i < action.param_count; ++i) {
      const Param& param = params[i];
      if (param.operand.type == ValueType::kNumber) {
        detail::store_word(element_ + param.at, operands_.number(param.operand));
      } else {
        store_large(operands_, param.operand, element_ + param.at);
      }
    }
    if (action.param_count == 0) return;
    // Pairs with the acquire load in is_set() of table_reader.cc: what was saved is there.
    __atomic_store_n(reinterpret_cast<std::uint8_t*>(element_ + action.saved_at), 1, __ATOMIC_RELEASE);
  }

  // -- snapshot ---------------------------------------------------------------------------------------------------
  // A snapshot is taken if the value is news to the whole histogram: it is compared with that of the element for which
  // the last snapshot was taken. So the element's value is stored before the element is named in `snapshots`.
  void take_snapshot(const Action& action, std::uint32_t number, std::uint64_t value) {
    std::uint64_t& last = table_.header().snapshots[number];
    // Pairs with the swap below: the value in the element that is named is there.
    std::uint64_t now = __atomic_load_n(&last, __ATOMIC_ACQUIRE);
    std::uint64_t next = 0;
    do {
      const std::uint64_t taken = taken_value(action, static_cast<std::uint32_t>(now) - 1);
      if (action.handler == Handler::kOnMax && value <= taken) return;
      if (action.handler == Handler::kOnChange && value == taken) return;
      std::uint64_t* const mine = word_at(element_ + action.taken_at);
      if (action.handler == Handler::kOnMax) {
        raise(mine, value);
      } else {
        __atomic_store_n(mine, value, __ATOMIC_RELAXED);
      }
      next = ((now >> 32) + 1) * kTagUnit | (std::uint64_t{table_.index_of(element_)} + 1);
      // Pairs with the load above, and with that in add_snapshot() of table_reader.cc.
    } while (!__atomic_compare_exchange_n(&last, &now, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    surroundings_.take_snapshot(action.target);
  }

  [[nodiscard]] std::uint64_t taken_value(const Action& action, std::uint32_t index) const {
    return index < plan_.layout.elements ? detail::load_word(table_.element(index) + action.taken_at) : 0;
  }

  const HistPlan& plan_;
  Table& table_;
  const Operands& operands_;
  Surroundings& surroundings_;
  std::byte* element_;
};

}  // namespace

void store_large(const Operands& operands, const Operand& operand, std::byte* to) {
  if (operand.type == ValueType::kText) {
    alignas(8) char text[kTextSize];
    operands.text(operand, text, kTextSize);
    detail::store_words(to, text, kTextSize);
  } else {
    std::uint64_t frames[kStackFrames];
    operands.stack(operand, frames);
    detail::store_words(to, frames, kStackSize);
  }
}

void run_actions(const HistPlan& plan, Table& table, const Operands& operands, Surroundings& surroundings,
                 std::byte* element) {
  ActionRunner(plan, table, operands, surroundings, element).run_all();
}

}  // namespace landtrace::hist
