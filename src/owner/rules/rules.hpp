// The rules of a domain: what events do beyond being recorded. The domain tells this of events that come and go.
//
//     Filters       which of an event's records an instance takes
//     Triggers      what happens with an event: tracing switched, snapshots, stacks, other events switched, histograms
//     Histograms    counted by producers in tables of the data segments; they may make synthetic events happen
//     EventProbes   events made out of another one's fields
//     EventPrograms eBPF programs that run when events happen
//     Probes        events of places in programs' code
//     Selections    what instances want of events that match a pattern, now and later
#pragma once

#include "domain/event_rules.hpp"
#include "programs/program_functions.hpp"
#include "rules/domain_names.hpp"
#include "rules/event_probes.hpp"
#include "rules/event_programs.hpp"
#include "rules/filters.hpp"
#include "rules/histograms/histograms.hpp"
#include "rules/histograms/tables.hpp"
#include "rules/long_reads.hpp"
#include "rules/probes/probes.hpp"
#include "rules/selection.hpp"
#include "rules/trigger_list.hpp"
#include "rules/triggers.hpp"

namespace landtrace::rules {

class Rules final : public domain::EventRules {
 public:
  // The domain has these rules from here on. It must outlive them.
  explicit Rules(Domain& domain);
  ~Rules() override;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  [[nodiscard]] Filters& filters() { return filters_; }
  [[nodiscard]] Triggers& triggers() { return triggers_; }
  [[nodiscard]] Histograms& histograms() { return histograms_; }
  [[nodiscard]] EventProbes& event_probes() { return event_probes_; }
  [[nodiscard]] EventPrograms& event_programs() { return event_programs_; }
  [[nodiscard]] Probes& probes() { return probes_; }
  [[nodiscard]] Selections& selections() { return selections_; }
  // For texts that take long to make.
  [[nodiscard]] LongReads& long_reads() { return long_reads_; }
  // Where functions of the domain's programs are.
  [[nodiscard]] programs::ProgramFunctions& functions() { return functions_; }

  // Events::remove(). Recorders do not keep a program from removing a synthetic event of its own; those who have
  // recorded it have it all the same.
  Result<void> remove(Event& event, std::uint32_t uid);

  Result<void> select(Event& event) override {
    // Nobody may have a reference to it yet, and whoever holds it in here, and finds no room, lets go of it. Not an
    // Events::Hold, which would drop it in the end: it is the caller's.
    ++event.references;
    event_programs_.came(event);
    auto selected = selections_.apply_to(event);
    --event.references;
    return selected;
  }
  Result<void> listeners_changed(Event& event) override;
  void gone(Event& event) override;
  void stop(Instance& instance) override;
  void program_came(std::uint32_t pid) override;
  void restore(const domain::SavedEvent& saved) override;

 private:
  void drop(Instance& instance, Event& event);
  [[nodiscard]] bool is_kept_by_recorders_alone(const Event& event) const;

  Domain& domain_;
  programs::ProgramFunctions functions_;
  Filters filters_;
  TriggerLists lists_;
  HistogramTables tables_;
  Histograms histograms_;
  Triggers triggers_;
  EventProbes event_probes_;
  EventPrograms event_programs_;
  Probes probes_;
  Selections selections_;
  // The last member: its thread uses the others.
  LongReads long_reads_;
};

}  // namespace landtrace::rules
