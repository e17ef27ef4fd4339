// Triggers of events in an instance: section 6 of the kernel's "Event Tracing". They act in the producers; here they
// are set up and taken away. Who calls these holds the domain.
#pragma once

#include <optional>
#include <string>

#include "language/histogram/mistakes.hpp"
#include "rules/file_rules.hpp"
#include "rules/filters.hpp"
#include "rules/histograms/histograms.hpp"
#include "rules/refused_trigger.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {

class Triggers {
 public:
  Triggers(Events& events, Cells& cells, Grace& grace, ControlMemory& control, Listening& listening, Filters& filters,
           TriggerLists& lists, Histograms& histograms)
      : events_(events),
        cells_(cells),
        grace_(grace),
        control_(control),
        listening_(listening),
        filters_(filters),
        lists_(lists),
        histograms_(histograms) {}

  // What was written to the event's `trigger` file: a trigger to be added, or one to be removed, which need not be
  // there. EINVAL, ERANGE for what is no trigger of this event, EEXIST where it has one of the family, ENOSPC, ENOMEM.
  // Of a histogram also ENOENT, EBUSY, EDOM; what the kernel would log about it is in `complaints`, be it taken or not.
  tl::expected<void, RefusedTrigger> apply(Instance& instance, Event& event, std::string_view command,
                                           language::HistComplaints* complaints = nullptr);
  // The file is opened to be written anew: histograms go, unless others use their variables, and triggers that switch
  // histograms; the others stay.
  void truncate(Instance& instance, Event& event);
  void remove_all(Instance& instance, Event& event);

  // Filters of triggers that look for functions find them anew.
  void refresh_functions(Instance& instance, Event& event);

  // What the file says.
  [[nodiscard]] std::string text(const Instance& instance, const Event& event) const;

 private:
  tl::expected<void, RefusedTrigger> add(Instance& instance, Event& event, const language::TriggerCommand& command);
  Result<void> take_what_it_needs(Instance& instance, EventTrigger& made, Event* target);
  void remove(Instance& instance, Event& event, const language::TriggerCommand& command);
  void remove_all(Instance& instance, Event& event, language::TriggerFamily family);
  [[nodiscard]] Event* target_of(const language::TriggerCommand& command);
  [[nodiscard]] std::int64_t left_of(const EventTrigger& trigger) const;

  Events& events_;
  Cells& cells_;
  Grace& grace_;
  ControlMemory& control_;
  Listening& listening_;
  Filters& filters_;
  TriggerLists& lists_;
  Histograms& histograms_;
};

}  // namespace landtrace::rules
