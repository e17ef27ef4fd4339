// A histogram's table as another may have spoilt it: whatever stands in it, events are counted and it is read without
// a step outside; and what is counted into a sound table comes out again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "event_require.hpp"
#include "hist/evaluate.hpp"
#include "language/histogram/plan_builder.hpp"
#include "language/histogram/table_reader.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::hist;
using namespace landtrace::language;
using namespace landtrace::language::ops;
using namespace landtrace::language::values;

class Quiet final : public Surroundings {
 public:
  std::uint32_t cpu() override { return 0; }
  const char* comm() override { return "fuzz\0\0\0\0\0\0\0\0\0\0\0"; }
  std::uint32_t capture_stack(std::uint64_t* frames) override {
    frames[0] = 1;
    return 1;
  }
  bool make_event(std::uint32_t, const std::byte*, std::uint32_t size) override {
    LT_REQUIRE(size <= kMaxSyntheticPayload);
    return true;
  }
  void take_snapshot(std::uint32_t) override {}
};

// Of all that a plan can be made of: its element has parts of every kind, and it refers to a table that is its own.
HistPlanDescription everything() {
  HistPlanDescription what;
  what.elements = kMinElements;
  what.has_comm = true;
  what.keys = {number({field(0, 1)}), dynamic(ValueType::kText, Origin::kDataLoc, 4)};
  what.values = {number({field(1, 1)})};
  what.variables = {number({field(1, 1)}), static_text(0, 12), thread_stack()};
  HistActionDescription action;
  action.handler = Handler::kOnMax;
  action.deed = Deed::kSnapshot;
  action.tracked = number({variable(0)});
  what.actions.push_back(action);
  action.handler = Handler::kOnChange;
  action.deed = Deed::kSave;
  action.params = {{of_variable(ValueType::kText, 1), 0, 0, false}, {number({cpu()}), 0, 0, false}};
  what.actions.push_back(action);
  return what;
}

// The first table's variables, read by the key that both have.
HistPlanDescription referring(const TableShape& shape, std::uint64_t table) {
  HistPlanDescription what = everything();
  what.variables.clear();
  what.actions.clear();
  for (const Place& place : shape.variables) what.references.push_back({table, shape.layout, place, false});
  HistActionDescription trace;
  trace.fixed_size = 24;
  trace.params = {{number({reference(0)}), 0, 8, false},
                  {of_reference(ValueType::kText, 1), 8, 0, true},
                  {of_reference(ValueType::kStack, 2), 16, 0, true}};
  what.actions.push_back(trace);
  return what;
}

std::vector<std::uint64_t> plan_words(const HistPlanDescription& what, const TableShape& shape, std::uint64_t table) {
  const auto bytes = build_hist_plan(what, shape, table);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

struct Free {
  void operator()(std::byte* at) const { std::free(at); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const HistPlanDescription first = everything();
  static const TableShape first_shape = *shape_of(first);
  static const std::uint64_t second_table = (first_shape.layout.bytes + 63) / 64 * 64;
  static const HistPlanDescription second = referring(first_shape, 0);
  static const TableShape second_shape = *shape_of(second);
  static const auto first_plan = plan_words(first, first_shape, 0);
  static const auto second_plan = plan_words(second, second_shape, second_table);
  const std::uint64_t bytes = (second_table + second_shape.layout.bytes + 63) / 64 * 64;
  const std::unique_ptr<std::byte, Free> memory(static_cast<std::byte*>(std::aligned_alloc(64, bytes)));
  std::memset(memory.get(), 0, bytes);
  const auto& counting = *reinterpret_cast<const HistPlan*>(first_plan.data());
  const auto& reading = *reinterpret_cast<const HistPlan*>(second_plan.data());

  // Triples: where to spoil, with what; or an event.
  bool is_spoilt = false;
  std::uint64_t events = 0;
  Quiet quiet;
  for (std::size_t i = 0; i + 16 <= size; i += 16) {
    std::uint64_t words[2];
    std::memcpy(words, data + i, sizeof words);
    if ((words[0] & 1) != 0) {
      // Mostly into the headers and the first slots, and small numbers.
      const std::uint64_t place = words[0] >> 2;
      const std::uint64_t word = (words[0] & 2) != 0 ? place % (bytes / 8) : place % 64;
      std::memcpy(memory.get() + 8 * word, &words[1], sizeof words[1]);
      is_spoilt = true;
      continue;
    }
    Moment moment(arch::RawClock::kMonotonic);
    const arch::Segment segment{words, sizeof words};
    const Event event{{&segment, 1}, 0, moment, quiet};
    count(counting, memory.get(), event);
    count(reading, memory.get(), event);
    ++events;
  }
  std::byte* const at = memory.get();
  const TableContents contents = read_tables(counting, {&at, 1});
  read_tables(reading, {&at, 1});
  LT_REQUIRE(contents.rows.size() <= kMinElements);
  if (!is_spoilt) LT_REQUIRE(contents.hits + contents.dropped == events);
  return 0;
}
