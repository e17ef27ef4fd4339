// What the event slots of a domain mean: slot -> type. A record carries its slot; people and files see the type's id.
#pragma once

#include <bitset>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "output/record.hpp"
#include "plan/segments.hpp"

namespace landtrace::buffer {

class EventTable {
 public:
  // `control` is a mapping of kControlBytes and must outlive the table.
  explicit EventTable(const plan::ControlSegment& control) : control_(control), slots_(plan::kMaxEvents) {}

  // Learns what was registered since the last call, also what is gone again by now. Cheap when nothing was.
  void refresh();

  // The type of the records that carry `slot`; nullptr when the slot never had an event, or the event is invalid.
  const output::EventType* find(std::uint32_t slot) {
    if (slot >= plan::kMaxEvents) return nullptr;
    const Slot& known = slots_[slot];
    return known.type != nullptr ? known.type : resolve(slot);
  }

  // All types so far, in the order in which they were learnt. None moves in memory.
  [[nodiscard]] const std::deque<output::EventType>& types() const { return types_; }
  // Those of them that refresh() has found described anew, since this was called last.
  [[nodiscard]] std::vector<const output::EventType*> take_redescribed() { return std::exchange(redescribed_, {}); }

 private:
  struct Slot {
    output::EventType* type = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t description = 0;  // its version
  };
  const output::EventType* resolve(std::uint32_t slot);
  bool describe(std::uint32_t slot);
  [[nodiscard]] std::optional<std::uint16_t> free_id(std::uint16_t wanted) const;

  const plan::ControlSegment& control_;
  std::vector<Slot> slots_;
  std::deque<output::EventType> types_;
  std::vector<const output::EventType*> redescribed_;
  std::bitset<65536> ids_;
  std::uint64_t changes_seen_ = 0;
};

struct SlotText {
  std::uint32_t generation = 0;
  std::uint16_t id = 0;
  std::string text;  // "SYSTEM\0NAME\0FIELDS\0FLAVOUR\0"
};
// A consistent copy of the slot's text; nullopt while the slot has no event.
std::optional<SlotText> copy_slot_text(const plan::ControlSegment& control, std::uint32_t slot);

struct DescriptionText {
  std::uint32_t version = 0;
  std::string text;
};
// A consistent copy of what is said of the structs of the slot's event; nullopt while it changes.
std::optional<DescriptionText> copy_description(const plan::ControlSegment& control, std::uint32_t slot);

// EINVAL: the text does not have its four parts, or the fields are invalid.
Result<output::EventType> type_of(const SlotText& slot);

}  // namespace landtrace::buffer
