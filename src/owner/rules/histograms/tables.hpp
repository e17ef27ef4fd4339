// The tables and plans of histograms: made and renewed.
#pragma once

#include "rules/histograms/histogram.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {

class HistogramTables {
 public:
  HistogramTables(ControlMemory& control, Users& users, Grace& grace, Events& events, Instances& instances,
                  TriggerLists& lists)
      : control_(control), users_(users), grace_(grace), events_(events), instances_(instances), lists_(lists) {}

  // Gives the histogram a table: that of `named`, if there is one, whose size and ways it has then. EINVAL, ENOMEM.
  Result<void> take(const Instance& instance, Histogram& histogram, const Histogram* named);
  // An empty one in its place. All that count in it or refer to it have plans with the new one when this returns.
  // ENOMEM.
  Result<void> renew(const Histogram& histogram);

  // The HistPlan, in the control segment. `pause`, `event_pause`: cells. ENOMEM.
  Result<std::uint32_t> store_plan(const Instance& instance, const Histogram& histogram, std::uint32_t pause,
                                   std::uint32_t event_pause);

 private:
  Result<std::shared_ptr<const TableRange>> make_range(std::uint64_t bytes);
  Result<void> republish(Instance& instance, Event& event, const HistogramTable& table);

  ControlMemory& control_;
  Users& users_;
  Grace& grace_;
  Events& events_;
  Instances& instances_;
  TriggerLists& lists_;
};

}  // namespace landtrace::rules
