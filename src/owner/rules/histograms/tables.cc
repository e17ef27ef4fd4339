#include "rules/histograms/tables.hpp"

#include <utility>

#include "rules/histograms/describe.hpp"
#include "rules/histograms/search.hpp"

namespace landtrace::rules {
namespace {

tl::unexpected<Error> no_room(const Error& error) { return fail(ENOMEM, error.message); }

}  // namespace

Result<std::shared_ptr<const TableRange>> HistogramTables::make_range(std::uint64_t bytes) {
  const auto offset = users_.allocate(bytes);
  if (!offset) return no_room(offset.error());
  return std::make_shared<const TableRange>(users_, grace_, *offset, bytes);
}

Result<void> HistogramTables::take(const Instance& instance, Histogram& histogram, const Histogram* named) {
  if (named != nullptr) {
    histogram.attributes.bits = named->attributes.bits;
    histogram.attributes.clock = named->attributes.clock;
    histogram.attributes.no_hitcount = named->attributes.no_hitcount;
  }
  LT_TRY(const language::HistPlanDescription what, describe(events_, instance, histogram, 0, 0));
  LT_TRY(language::TableShape shape, shape_of(what));
  if (named != nullptr) {
    if (!(named->table->shape == shape)) return fail(EINVAL, "the histogram of that name has other fields");
    histogram.table = named->table;
    return {};
  }
  LT_TRY(auto range, make_range(shape.layout.bytes));
  histogram.table = std::make_shared<HistogramTable>(HistogramTable{std::move(range), std::move(shape), {}});
  return {};
}

Result<void> HistogramTables::renew(const Histogram& histogram) {
  HistogramTable& table = *histogram.table;
  LT_TRY(auto range, make_range(table.shape.layout.bytes));
  table.replaced.push_back(std::exchange(table.range, std::move(range)));
  for (Event* const event : events_.all_and_print()) {
    std::vector<std::uint32_t> instances;
    for (const auto& [index, file] : event->files.all()) instances.push_back(index);
    for (const std::uint32_t index : instances) {
      if (Instance* const instance = instances_.at(index)) LT_CHECK(republish(*instance, *event, table));
    }
  }
  // Only now: until the last plan is another, producers fill the old table.
  table.replaced.clear();
  return {};
}

Result<std::uint32_t> HistogramTables::store_plan(const Instance& instance, const Histogram& histogram,
                                                  std::uint32_t pause, std::uint32_t event_pause) {
  LT_TRY(const language::HistPlanDescription what, describe(events_, instance, histogram, pause, event_pause));
  auto stored = control_.store(build_hist_plan(what, histogram.table->shape, histogram.table->range->offset));
  if (!stored) return no_room(stored.error());
  return stored;
}

Result<void> HistogramTables::republish(Instance& instance, Event& event, const HistogramTable& table) {
  FileRules* const rules = find_rules(event, instance);
  if (rules == nullptr) return {};
  std::vector<std::uint32_t> old;
  for (EventTrigger& trigger : rules->triggers) {
    if (!trigger.histogram || !needs_table(*trigger.histogram, table)) continue;
    LT_TRY(const std::uint32_t plan, store_plan(instance, *trigger.histogram, trigger.pause, rules->hist_switch));
    old.push_back(std::exchange(trigger.plan, plan));
  }
  if (old.empty()) return {};
  LT_CHECK(lists_.publish(instance, event));
  grace_.after_readers([&control = control_, old] {
    for (const std::uint32_t plan : old) control.free(plan);
  });
  return {};
}

}  // namespace landtrace::rules
