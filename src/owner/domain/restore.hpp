// What an owner takes over from the one before it: events, open files and enable words, as far as their processes live.
#pragma once

#include <vector>

#include "domain/enable_words.hpp"
#include "domain/event_rules.hpp"
#include "domain/events.hpp"
#include "domain/files.hpp"

namespace landtrace::domain {

class Restorer {
 public:
  Restorer(Events& events, Files& files, EnableWords& enable_words, RulesLink& rules, abi::Version abi)
      : events_(events), files_(files), enable_words_(enable_words), rules_(rules), abi_(abi) {}

  // Whatever cannot be had again is left out. Each event that programs registered has a reference more, so that it
  // stays until they come back; their slots are returned.
  std::vector<std::uint32_t> restore(const SavedDomain& saved);

 private:
  // The new events by the slots that they had; nullptr: one that is gone.
  std::vector<Event*> found(const std::vector<std::uint32_t>& slots) const;
  void restore_events(const std::vector<SavedEvent>& events);
  void restore_file(const SavedFile& file, std::vector<ProcessId> keepers);
  void restore_words(const SavedProcess& process);
  std::vector<SavedProcess> find_unannounced_children(const SavedDomain& saved);

  Events& events_;
  Files& files_;
  EnableWords& enable_words_;
  RulesLink& rules_;
  abi::Version abi_;
  std::unordered_map<std::uint32_t, Event*> restored_;  // by the slot that it had
  std::vector<std::uint32_t> held_;
};

}  // namespace landtrace::domain
