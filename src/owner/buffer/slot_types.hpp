// What the event slots of the owner's own domain mean now. (Recordings use EventTable: there a number means one thing
// for ever.)
#pragma once

#include <memory>
#include <vector>

#include "domain/events.hpp"
#include "output/record.hpp"

namespace landtrace::buffer {

class SlotTypes {
 public:
  SlotTypes(const domain::ControlMemory& control, const domain::Events& events);

  // Call it before records are looked at.
  void refresh();
  // The type of a record that carries `slot` and was made at that raw time. nullptr: another event has the slot
  // since, or it never had one.
  const output::EventType* find(std::uint32_t slot, std::uint64_t clock) {
    if (slot < slots_.size()) [[likely]] {
      const Slot& known = slots_[slot];
      if (known.type && clock >= known.made_at) [[likely]]
        return known.type.get();
    }
    return nullptr;
  }
  // The number that is shown for a slot without a type.
  [[nodiscard]] std::uint16_t id_of(std::uint32_t slot) const;

 private:
  struct Slot {
    std::unique_ptr<output::EventType> type;
    std::uint64_t made_at = 0;
    std::uint32_t generation = 0;
  };
  const domain::ControlMemory& control_;
  const domain::Events& events_;
  std::vector<Slot> slots_;
  std::uint64_t changes_seen_ = ~0ull;
};

}  // namespace landtrace::buffer
