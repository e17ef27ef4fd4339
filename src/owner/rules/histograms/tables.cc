#include "rules/histograms/tables.hpp"

#include <algorithm>

#include "rules/histograms/describe.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {
namespace {

void free_later(Domain& domain, const HistogramTable& table) {
  domain.grace().after_readers(
      [&domain, offset = table.offset, size = table.shape.layout.bytes] { domain.users().free(offset, size); });
}

bool refers_to(const Histogram& histogram, const HistogramTable* table) {
  return std::any_of(histogram.references.begin(), histogram.references.end(),
                     [&](const FieldPtr& reference) { return reference->table.get() == table; });
}

Result<void> no_room(const Error& error) { return fail(ENOMEM, error.message); }

Result<void> republish(Domain& domain, Instance& instance, Event& event, const HistogramTable& table) {
  EventFile& file = event.files[instance.index];
  std::vector<std::uint32_t> old;
  for (EventTrigger& trigger : file.triggers) {
    if (!trigger.histogram) continue;
    if (trigger.histogram->table.get() != &table && !refers_to(*trigger.histogram, &table)) continue;
    LT_TRY(const std::uint32_t plan, store_plan(domain, instance, *trigger.histogram, trigger.pause, file.hist_switch));
    old.push_back(std::exchange(trigger.plan, plan));
  }
  if (old.empty()) return {};
  LT_CHECK(publish_triggers(domain, instance, event));
  domain.grace().after_readers([&domain, old] {
    for (const std::uint32_t plan : old) domain.control().free(plan);
  });
  return {};
}

}  // namespace

void for_each_histogram(Domain& domain, const SeeHistogram& see) {
  for (Event* const event : domain.events().all()) {
    for (auto& [index, file] : event->files) {
      Instance* const instance = domain.instances().at(index);
      for (EventTrigger& trigger : file.triggers) {
        if (trigger.histogram && instance != nullptr) see(*instance, *event, trigger);
      }
    }
  }
}

const Histogram* find_named(Domain& domain, const std::string& name) {
  const Histogram* found = nullptr;
  if (name.empty()) return found;
  for_each_histogram(domain, [&](Instance&, Event&, EventTrigger& trigger) {
    if (found == nullptr && trigger.histogram->attributes.name == name) found = trigger.histogram.get();
  });
  return found;
}

bool is_used(Domain& domain, const Histogram& histogram) {
  bool is_used = false;
  for_each_histogram(domain, [&](Instance&, Event&, EventTrigger& trigger) {
    if (trigger.histogram.get() != &histogram && refers_to(*trigger.histogram, histogram.table.get())) is_used = true;
  });
  return is_used;
}

bool has_variables(Domain& domain, std::uint32_t instance) {
  bool has = false;
  for_each_histogram(domain, [&](Instance& at, Event&, EventTrigger& trigger) {
    const Histogram& histogram = *trigger.histogram;
    if (at.index == instance && !(histogram.variables.empty() && histogram.references.empty())) has = true;
  });
  return has;
}

Result<void> take_table(Domain& domain, const Instance& instance, Histogram& histogram, const Histogram* named) {
  if (named != nullptr) {
    histogram.attributes.bits = named->attributes.bits;
    histogram.attributes.clock = named->attributes.clock;
    histogram.attributes.no_hitcount = named->attributes.no_hitcount;
  }
  LT_TRY(const language::HistPlanDescription what, describe(domain, instance, histogram, 0, 0));
  LT_TRY(language::TableShape shape, shape_of(what));
  if (named != nullptr) {
    if (!(named->table->shape == shape)) return fail(EINVAL, "the histogram of that name has other fields");
    histogram.table = named->table;
    return {};
  }
  auto table = std::make_shared<HistogramTable>();
  const auto offset = domain.users().allocate(shape.layout.bytes);
  if (!offset) return no_room(offset.error());
  table->offset = *offset;
  table->shape = std::move(shape);
  table->free = [&domain](const HistogramTable& gone) { free_later(domain, gone); };
  histogram.table = std::move(table);
  return {};
}

Result<void> renew_table(Domain& domain, const Histogram& histogram) {
  HistogramTable& table = *histogram.table;
  const auto offset = domain.users().allocate(table.shape.layout.bytes);
  if (!offset) return no_room(offset.error());
  // Freed when producers have their new plans: those that republish_users() makes.
  table.replaced.push_back(std::exchange(table.offset, *offset));
  return {};
}

Result<std::uint32_t> store_plan(Domain& domain, const Instance& instance, const Histogram& histogram,
                                 std::uint32_t pause, std::uint32_t event_pause) {
  LT_TRY(const language::HistPlanDescription what, describe(domain, instance, histogram, pause, event_pause));
  auto stored = domain.control().store(build_hist_plan(what, histogram.table->shape, histogram.table->offset));
  if (!stored) return fail(ENOMEM, stored.error().message);
  return stored;
}

Result<void> republish_users(Domain& domain, HistogramTable& table) {
  for (Event* const event : domain.events().all()) {
    std::vector<std::uint32_t> instances;
    for (const auto& [index, file] : event->files) instances.push_back(index);
    for (const std::uint32_t index : instances) {
      if (Instance* const instance = domain.instances().at(index)) {
        LT_CHECK(republish(domain, *instance, *event, table));
      }
    }
  }
  for (const std::uint64_t offset : std::exchange(table.replaced, {})) {
    domain.grace().after_readers(
        [&domain, offset, size = table.shape.layout.bytes] { domain.users().free(offset, size); });
  }
  return {};
}

}  // namespace landtrace::rules
