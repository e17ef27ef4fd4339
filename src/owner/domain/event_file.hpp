// An event in an instance: what the files of its folder there are about. (The kernel's word for it is event file.)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "domain/attachment.hpp"
#include "plan/steps.hpp"

namespace landtrace::domain {

// A step of the event's plan that looks at the event.
struct Observer {
  plan::StepKind kind;  // kProgram, kHistogram
  // It stands behind the record.
  bool is_late;
  // Offset of the filter::Program in the control segment that says which of the events it looks at; 0: all of them.
  std::uint32_t filter;
  // … of the bpf::Program or hist::HistPlan.
  std::uint32_t offset;
};

struct EventFile {
  // Offset of the filter::Program in the control segment that says which of the events are recorded; 0: all of them.
  std::uint32_t filter_program = 0;
  // Offset of the plan::TriggerList in the control segment; 0: there is none.
  std::uint32_t trigger_list = 0;
  // One of the list's does, so none of them runs for a thread whose events the instance does not take.
  bool triggers_look_at_event = false;
  // Triggers that are not in the list.
  std::vector<Observer> observers;
  // Soft mode: the event stays enabled, so that triggers can look at it or switch it, and a switch says whether it is
  // recorded.
  unsigned soft_references = 0;
  std::uint32_t soft_switch = 0;  // cell
  std::unique_ptr<Attachment> rules;

  [[nodiscard]] bool in_soft_mode() const { return soft_references > 0; }
};

// Those of one event, by instance. Most events have none: as long as none is made it is a pointer.
class EventFiles {
 public:
  using Map = std::map<std::uint32_t, EventFile>;

  EventFile& operator[](std::uint32_t instance) {
    if (!map_) map_ = std::make_unique<Map>();
    return (*map_)[instance];
  }
  [[nodiscard]] const EventFile* find(std::uint32_t instance) const {
    if (!map_) return nullptr;
    const auto found = map_->find(instance);
    return found == map_->end() ? nullptr : &found->second;
  }
  [[nodiscard]] EventFile* find(std::uint32_t instance) {
    return const_cast<EventFile*>(std::as_const(*this).find(instance));
  }
  void erase(std::uint32_t instance) {
    if (map_) map_->erase(instance);
  }
  void clear() { map_.reset(); }
  [[nodiscard]] bool empty() const { return !map_ || map_->empty(); }
  [[nodiscard]] const Map& all() const {
    static const Map kNone;
    return map_ ? *map_ : kNone;
  }

 private:
  std::unique_ptr<Map> map_;
};

}  // namespace landtrace::domain
