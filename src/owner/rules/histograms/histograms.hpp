// Histograms among an event's triggers, and what their files say.
#pragma once

#include "rules/histograms/reading.hpp"
#include "rules/histograms/set_up.hpp"

namespace landtrace::rules {

class Histograms {
 public:
  Histograms(ControlMemory& control, Users& users, const HistogramParts& parts)
      : control_(control), users_(users), parts_(parts) {}

  // As set_up_histogram().
  tl::expected<void, RefusedTrigger> apply(Instance& instance, Event& event, const language::TriggerCommand& command,
                                           language::HistComplaints& complaints) {
    return set_up_histogram(parts_, instance, event, command, complaints);
  }

  // Whether a histogram of the event has variables that others use.
  [[nodiscard]] bool are_variables_used(const Instance& instance, const Event& event) const;
  // What a histogram holds that is in no list any more: synthetic events, snapshots, histograms on other events.
  void let_go_of(Instance& instance, const Histogram& gone);

  // As the trigger file shows it, and the head of the hist file.
  [[nodiscard]] std::string line(const FileRules& file, const EventTrigger& trigger) const;
  [[nodiscard]] static bool has_any(const Instance& instance, const Event& event);
  // What it takes to read all histograms of an event.
  [[nodiscard]] HistogramReading reading(const Instance& instance, const Event& event) const;
  // The whole hist file of an event, read at once.
  [[nodiscard]] std::string text(const Instance& instance, const Event& event, AddressNames& names) const;

 private:
  ControlMemory& control_;
  Users& users_;
  HistogramParts parts_;
};

}  // namespace landtrace::rules
