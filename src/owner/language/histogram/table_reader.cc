#include "language/histogram/table_reader.hpp"

#include <algorithm>
#include <cstring>

#include "hist/table.hpp"

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
  explicit Reader(const hist::HistPlan& plan) : plan_(plan), layout_(plan.layout) {
    contents_.snapshots.resize(plan.action_count);
  }

  void add(std::byte* segment) {
    const hist::Table table(segment + plan_.table, layout_);
    const hist::TableHeader& header = table.header();
    contents_.dropped += __atomic_load_n(&header.dropped, __ATOMIC_RELAXED);
    contents_.lost += __atomic_load_n(&header.lost, __ATOMIC_RELAXED);
    const std::uint64_t taken = __atomic_load_n(&header.taken, __ATOMIC_RELAXED);
    const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(taken, layout_.elements));
    contents_.rows.reserve(contents_.rows.size() + end);
    for (std::uint32_t i = 0; i < end; ++i) add_element(table.element(i));
    for (std::uint32_t i = 0; i < plan_.action_count; ++i) add_snapshot(table, i);
  }

  TableContents finish() {
    sort_and_merge();
    return std::move(contents_);
  }

 private:
  [[nodiscard]] const hist::Action& action(std::uint32_t i) const { return plan_.at<hist::Action>(plan_.actions)[i]; }

  // Only an event that found the element in the table counts it: an element with a count is in the table.
  void add_element(const std::byte* element) {
    const std::uint64_t hitcount = hist::detail::load_hitcount(element + layout_.hitcount_at());
    if (hitcount == 0) return;
    contents_.hits += hitcount;
    contents_.rows.push_back(read_row(element, hitcount));
  }

  std::vector<std::byte> read_key(const std::byte* element) const {
    std::vector<std::byte> key(layout_.key_size);
    hist::detail::load_words(key.data(), element, layout_.key_size);
    return key;
  }

  TableRow read_row(const std::byte* element, std::uint64_t hitcount) const {
    TableRow row;
    row.key = read_key(element);
    row.hitcount = hitcount;
    row.sums.resize(layout_.value_count);
    hist::detail::load_words(row.sums.data(), element + layout_.sums_at(), 8 * layout_.value_count);
    const hist::Variable* const variables = plan_.at<hist::Variable>(plan_.variables);
    for (std::uint32_t i = 0; i < plan_.variable_count; ++i) {
      const hist::Place& place = variables[i].place;
      row.variables.push_back(content_at(element, place.type, place.at, place.set_at));
    }
    if (layout_.comm_at != 0) row.comm = text_at(element + layout_.comm_at, hist::kCommSize);
    for (std::uint32_t i = 0; i < plan_.action_count; ++i) row.actions.push_back(read_action(element, action(i)));
    return row;
  }

  TableRow::ActionState read_action(const std::byte* element, const hist::Action& action) const {
    TableRow::ActionState state;
    if (action.handler != hist::Handler::kOnMatch) state.tracked = hist::detail::load_word(element + action.tracked_at);
    if (action.deed != hist::Deed::kSave) return state;
    const hist::Param* const params = plan_.at<hist::Param>(plan_.params) + action.params;
    for (std::uint32_t i = 0; i < action.param_count; ++i) {
      state.saved.push_back(content_at(element, params[i].operand.type, params[i].at, action.saved_at));
    }
    return state;
  }

  // By the bytes of a key: of its first ones as a number, then of the others.
  struct Ordered {
    std::uint64_t begin;
    std::uint32_t row;
  };
  [[nodiscard]] static std::uint64_t begin_of(const TableRow& row) {
    std::uint64_t word = 0;
    std::memcpy(&word, row.key.data(), sizeof word);  // keys are whole words
    return __builtin_bswap64(word);
  }
  [[nodiscard]] bool is_before(const Ordered& a, const Ordered& b) const {
    if (a.begin != b.begin) return a.begin < b.begin;
    const int order = std::memcmp(contents_.rows[a.row].key.data(), contents_.rows[b.row].key.data(), layout_.key_size);
    return order != 0 ? order < 0 : a.row < b.row;
  }

  // A key has several rows if several users have it, or if a user has spoilt its table.
  void sort_and_merge() {
    std::vector<Ordered> places;
    places.reserve(contents_.rows.size());
    for (const TableRow& row : contents_.rows)
      places.push_back({begin_of(row), static_cast<std::uint32_t>(places.size())});
    std::sort(places.begin(), places.end(), [this](const Ordered& a, const Ordered& b) { return is_before(a, b); });
    std::vector<TableRow> sorted;
    sorted.reserve(places.size());
    for (const Ordered& place : places) {
      TableRow& row = contents_.rows[place.row];
      if (!sorted.empty() && sorted.back().key == row.key) {
        merge(sorted.back(), std::move(row));
      } else {
        sorted.push_back(std::move(row));
      }
    }
    contents_.rows = std::move(sorted);
  }

  static void merge(TableRow& row, TableRow other) {
    row.hitcount += other.hitcount;
    for (std::size_t i = 0; i < row.sums.size(); ++i) row.sums[i] += other.sums[i];
    for (std::size_t i = 0; i < row.variables.size(); ++i) {
      if (!row.variables[i].is_set) row.variables[i] = std::move(other.variables[i]);
    }
    for (std::size_t i = 0; i < row.actions.size(); ++i) {
      if (other.actions[i].tracked > row.actions[i].tracked || is_unset(row.actions[i])) {
        row.actions[i] = std::move(other.actions[i]);
      }
    }
  }
  static bool is_unset(const TableRow::ActionState& state) {
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
  TableContents contents_;
};

}  // namespace

TableContents read_tables(const hist::HistPlan& plan, std::span<std::byte* const> segments) {
  Reader reader(plan);
  for (std::byte* const segment : segments) reader.add(segment);
  return reader.finish();
}

}  // namespace landtrace::language
