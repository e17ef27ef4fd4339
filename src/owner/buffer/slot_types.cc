#include "buffer/slot_types.hpp"

#include <algorithm>

#include "buffer/event_table.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::buffer {

SlotTypes::SlotTypes(const domain::ControlMemory& control, const domain::Events& events)
    : control_(control), events_(events), slots_(plan::kFirstEventSlot) {
  slots_[plan::kPrintSlot].type = std::make_unique<output::EventType>(output::marker_type());
  slots_[plan::kRawDataSlot].type = std::make_unique<output::EventType>(output::raw_marker_type());
  slots_[plan::kUserStackSlot].type = std::make_unique<output::EventType>(output::user_stack_type());
}

void SlotTypes::refresh() {
  const plan::ControlSegment& control = control_.segment();
  if (control.event_changes == changes_seen_) return;
  changes_seen_ = control.event_changes;
  slots_.resize(std::clamp(control.event_high, plan::kFirstEventSlot, plan::kMaxEvents));
  for (std::uint32_t i = plan::kFirstEventSlot; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (control.events[i].generation == slot.generation) continue;
    const auto text = copy_slot_text(control, i);
    if (!text) continue;
    slot.generation = text->generation;
    slot.made_at = events_.made_at(i);
    auto type = type_of(*text);
    slot.type = type ? std::make_unique<output::EventType>(*std::move(type)) : nullptr;
  }
}

std::uint16_t SlotTypes::id_of(std::uint32_t slot) const {
  return slot < plan::kMaxEvents ? control_.segment().events[slot].id : 0;
}

}  // namespace landtrace::buffer
