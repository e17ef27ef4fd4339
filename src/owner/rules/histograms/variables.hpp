// Where histograms find the variables of others.
#pragma once

#include <optional>

#include "rules/file_rules.hpp"
#include "rules/histograms/histogram.hpp"
#include "language/histogram/mistakes.hpp"

namespace landtrace::rules {

struct FoundVariable {
  HistogramPtr of;  // nullptr: the histogram's own, which is not set up yet
  std::size_t index = 0;
  FieldPtr field;
};

// Those of the event in the instance, in the order of the trigger file.
std::vector<HistogramPtr> histograms_of(const Event& event, const Instance& instance);

class Variables {
 public:
  Variables(Events& events, Instance& instance, const Event& event, const Histogram& own,
            language::HistComplaints& complaints)
      : events_(events), instance_(instance), event_(event), own_(own), complaints_(complaints) {}

  // Whether the histogram or another of its event has the variable already.
  [[nodiscard]] bool is_taken(std::string_view name) const;
  // Another histogram's: of the event of that name, or else of one that an onmatch() names, or else of the only event
  // that has it.
  [[nodiscard]] std::optional<FoundVariable> find(std::string_view system, std::string_view event,
                                                  std::string_view name) const;
  // The own one, where the event's name is that of the own event or "".
  [[nodiscard]] std::optional<FoundVariable> find_own(std::string_view system, std::string_view event,
                                                      std::string_view name) const;

  [[nodiscard]] Event* event_named(std::string_view system, std::string_view event) const {
    return events_.find(system, event);
  }
  [[nodiscard]] static std::optional<FoundVariable> of_event(const Event& event, const Instance& instance,
                                                             std::string_view name);

 private:
  enum class Search : std::uint8_t { kNone, kFound, kAmbiguous };
  Search find_matched(std::string_view name, std::optional<FoundVariable>& found) const;
  [[nodiscard]] std::optional<FoundVariable> find_anywhere(std::string_view name) const;

  Events& events_;
  Instance& instance_;
  const Event& event_;
  const Histogram& own_;
  language::HistComplaints& complaints_;
};

}  // namespace landtrace::rules
