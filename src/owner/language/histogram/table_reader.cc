#include "language/histogram/table_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/large_pages.hpp"
#include "hist/table.hpp"
#include "language/histogram/ranked.hpp"

namespace landtrace::language {
namespace {

// Pairs with the release stores in set_variables(), evaluate.cc, and ActionRunner::save(), run_actions.cc.
bool is_set(const std::byte* element, std::uint32_t at) {
  return __atomic_load_n(reinterpret_cast<const std::uint8_t*>(element + at), __ATOMIC_ACQUIRE) != 0;
}

std::string text_at(const std::byte* at, std::uint32_t size) {
  std::vector<char> bytes(size);
  hist::detail::load_words(bytes.data(), at, size);
  return {bytes.data(), ::strnlen(bytes.data(), size)};
}

TableValue content_at(const std::byte* element, hist::ValueType type, std::uint32_t at, std::uint32_t set_at) {
  TableValue content;
  content.type = type;
  content.is_set = is_set(element, set_at);
  if (!content.is_set) return content;
  switch (type) {
    case hist::ValueType::kNumber:
      content.number = hist::detail::load_word(element + at);
      break;
    case hist::ValueType::kText:
      content.text = text_at(element + at, hist::kTextSize);
      break;
    case hist::ValueType::kStack:
      content.stack.resize(hist::kStackFrames);
      hist::detail::load_words(content.stack.data(), element + at, hist::kStackSize);
      while (!content.stack.empty() && content.stack.back() == 0) content.stack.pop_back();
      break;
  }
  return content;
}

class Reader {
 public:
  Reader(const hist::HistPlan& plan, const std::stop_token& given_up)
      : plan_(plan), layout_(plan.layout), given_up_(given_up) {
    contents_.rows = TableRows(plan);
    contents_.snapshots.resize(plan.action_count);
  }

  void add(std::byte* segment) {
    const hist::Table table(segment + plan_.table, layout_);
    const hist::TableHeader& header = table.header();
    contents_.dropped += __atomic_load_n(&header.dropped, __ATOMIC_RELAXED);
    contents_.lost += __atomic_load_n(&header.lost, __ATOMIC_RELAXED);
    const std::uint64_t end = rows_at_most(plan_, segment);
    contents_.rows.expect(end);
    for (std::uint32_t i = 0; i < end; ++i) {
      if (i % kLookEvery == 0 && given_up_.stop_requested()) return;
      add_element(table.element(i));
    }
    for (std::uint32_t i = 0; i < plan_.action_count; ++i) add_snapshot(table, i);
  }

  TableContents finish() {
    sort_and_merge();
    return std::move(contents_);
  }

 private:
  static constexpr std::uint32_t kLookEvery = 4096;

  [[nodiscard]] const hist::Action& action(std::uint32_t i) const { return plan_.at<hist::Action>(plan_.actions)[i]; }

  // Only an event that found the element in the table counts it: an element with a count is in the table.
  void add_element(const std::byte* element) {
    const std::uint64_t hitcount = hist::detail::load_hitcount(element + layout_.hitcount_at());
    if (hitcount == 0) return;
    contents_.hits += hitcount;
    // As they lie in the element: the key, the hit count, the sums.
    std::uint64_t* const words = contents_.rows.add();
    hist::detail::load_words(words, element, layout_.key_size);
    words[layout_.key_size / 8] = hitcount;
    hist::detail::load_words(words + layout_.key_size / 8 + 1, element + layout_.sums_at(), 8 * layout_.value_count);
    if (contents_.rows.has_parts()) read_parts(element, contents_.rows.parts(contents_.rows.size() - 1));
  }

  std::vector<std::byte> read_key(const std::byte* element) const {
    std::vector<std::byte> key(layout_.key_size);
    hist::detail::load_words(key.data(), element, layout_.key_size);
    return key;
  }

  void read_parts(const std::byte* element, RowParts& parts) const {
    const hist::Variable* const variables = plan_.at<hist::Variable>(plan_.variables);
    for (std::uint32_t i = 0; i < plan_.variable_count; ++i) {
      const hist::Place& place = variables[i].place;
      parts.variables.push_back(content_at(element, place.type, place.at, place.set_at));
    }
    if (layout_.comm_at != 0) parts.comm = text_at(element + layout_.comm_at, hist::kCommSize);
    for (std::uint32_t i = 0; i < plan_.action_count; ++i) parts.actions.push_back(read_action(element, action(i)));
  }

  ActionState read_action(const std::byte* element, const hist::Action& action) const {
    ActionState state;
    if (action.handler != hist::Handler::kOnMatch) state.tracked = hist::detail::load_word(element + action.tracked_at);
    if (action.deed != hist::Deed::kSave) return state;
    const hist::Param* const params = plan_.at<hist::Param>(plan_.params) + action.params;
    for (std::uint32_t i = 0; i < action.param_count; ++i) {
      state.saved.push_back(content_at(element, params[i].operand.type, params[i].at, action.saved_at));
    }
    return state;
  }

  // A key has several rows if several users have it, or if a user has spoilt its table.
  void sort_and_merge() {
    TableRows& rows = contents_.rows;
    std::vector<std::uint32_t> kept;
    reserve_large(kept, rows.size());
    std::uint64_t rank = 0;
    for (const Ranked& ranked : in_order_of_keys()) {
      // Equal keys have equal ranks, and hardly any others have.
      if (!kept.empty() && rank == ranked.rank && compare_keys(kept.back(), ranked.row) == 0) {
        merge(kept.back(), ranked.row);
      } else {
        kept.push_back(ranked.row);
        rank = ranked.rank;
      }
    }
    rows.select(kept);
  }

  // By the bytes of a key: of its first ones as a number, then of the others.
  [[nodiscard]] std::vector<Ranked> in_order_of_keys() const {
    std::vector<Ranked> order;
    reserve_large(order, contents_.rows.size());
    for (const TableRow& row : contents_.rows) {
      std::uint64_t word = 0;
      std::memcpy(&word, row.key.data(), sizeof word);  // keys are whole words
      order.push_back({__builtin_bswap64(word), static_cast<std::uint32_t>(order.size())});
    }
    sort_by_rank(order);
    if (layout_.key_size == sizeof(std::uint64_t)) return order;
    for (auto first = order.begin(); first != order.end();) {
      const auto end = std::find_if(first, order.end(), [first](const Ranked& one) { return one.rank != first->rank; });
      std::sort(first, end, [this](const Ranked& a, const Ranked& b) {
        const int sign = compare_keys(a.row, b.row);
        return sign != 0 ? sign < 0 : a.row < b.row;
      });
      first = end;
    }
    return order;
  }

  [[nodiscard]] int compare_keys(std::uint32_t one, std::uint32_t other) const {
    return std::memcmp(contents_.rows[one].key.data(), contents_.rows[other].key.data(), layout_.key_size);
  }

  void merge(std::uint32_t into, std::uint32_t from) {
    TableRows& rows = contents_.rows;
    const auto sums = rows.counts(into);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += rows.counts(from)[i];
    if (rows.has_parts()) merge(rows.parts(into), std::move(rows.parts(from)));
  }

  static void merge(RowParts& row, RowParts other) {
    for (std::size_t i = 0; i < row.variables.size(); ++i) {
      if (!row.variables[i].is_set) row.variables[i] = std::move(other.variables[i]);
    }
    for (std::size_t i = 0; i < row.actions.size(); ++i) {
      if (other.actions[i].tracked > row.actions[i].tracked || is_unset(row.actions[i])) {
        row.actions[i] = std::move(other.actions[i]);
      }
    }
  }
  static bool is_unset(const ActionState& state) {
    return std::none_of(state.saved.begin(), state.saved.end(), [](const TableValue& saved) { return saved.is_set; });
  }

  void add_snapshot(const hist::Table& table, std::uint32_t number) {
    if (action(number).deed != hist::Deed::kSnapshot) return;
    // Pairs with the swap in ActionRunner::take_snapshot(), run_actions.cc: the value in the element is there.
    const std::uint64_t last = __atomic_load_n(&table.header().snapshots[number], __ATOMIC_ACQUIRE);
    const std::uint32_t index = static_cast<std::uint32_t>(last) - 1;
    if (index >= layout_.elements) return;
    const std::byte* const element = table.element(index);
    const std::uint64_t value = hist::detail::load_word(element + action(number).taken_at);
    SnapshotTaken& taken = contents_.snapshots[number];
    if (taken.is_taken && value <= taken.value) return;
    taken = {true, value, read_key(element), {}};
    if (layout_.comm_at != 0) taken.comm = text_at(element + layout_.comm_at, hist::kCommSize);
  }

  const hist::HistPlan& plan_;
  const hist::TableLayout& layout_;
  const std::stop_token& given_up_;
  TableContents contents_;
};

}  // namespace

std::uint64_t rows_at_most(const hist::HistPlan& plan, const std::byte* segment) {
  const auto& header = *reinterpret_cast<const hist::TableHeader*>(segment + plan.table);
  return std::min<std::uint64_t>(__atomic_load_n(&header.taken, __ATOMIC_RELAXED), plan.layout.elements);
}

TableContents read_tables(const hist::HistPlan& plan, std::span<std::byte* const> segments,
                          const std::stop_token& given_up) {
  Reader reader(plan, given_up);
  for (std::byte* const segment : segments) reader.add(segment);
  return reader.finish();
}

}  // namespace landtrace::language
