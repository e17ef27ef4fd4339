#include "buffer/event_table.hpp"

#include <algorithm>
#include <atomic>

#include "event/description.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::buffer {
namespace {

constexpr std::uint32_t kMaxSlotText = 64 * 1024;
constexpr int kMaxAttempts = 100;
// Below every id that a domain gives out.
constexpr std::uint16_t kFirstSubstituteId = 16383;

// Cuts "NAME\0" off the front; nothing when there is no NUL.
std::optional<std::string> take_terminated(std::string_view& text) {
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  std::string taken(text.substr(0, end));
  text.remove_prefix(end + 1);
  return taken;
}

}  // namespace

// The generation is read before and after: the owner changes it before it touches the texts of a slot that gets
// another event, and again when they are complete (domain/events.cc).
std::optional<SlotText> copy_slot_text(const plan::ControlSegment& control, std::uint32_t slot) {
  const plan::EventSlot& shared = control.events[slot];
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    SlotText copy;
    // Pairs with the last publish() in Events::describe(): what the slot says is there.
    copy.generation = __atomic_load_n(&shared.generation, __ATOMIC_ACQUIRE);
    if (copy.generation == 0) return std::nullopt;
    // Pairs with the publish() of the text there.
    const std::uint32_t at = __atomic_load_n(&shared.text, __ATOMIC_ACQUIRE);
    const std::uint32_t size = __atomic_load_n(&shared.text_size, __ATOMIC_RELAXED);
    copy.id = __atomic_load_n(&shared.id, __ATOMIC_RELAXED);
    const bool inside = size <= kMaxSlotText && at >= sizeof control && at <= plan::kControlBytes - size;
    if (inside) copy.text.assign(reinterpret_cast<const char*>(&control) + at, size);
    // Pairs with the release fence in Events::take_slot(): whoever has copied a part of another event's text sees that
    // the generation has moved.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (inside && __atomic_load_n(&shared.generation, __ATOMIC_RELAXED) == copy.generation) return copy;
  }
  return std::nullopt;
}

std::optional<DescriptionText> copy_description(const plan::ControlSegment& control, std::uint32_t slot) {
  const plan::SlotDescription& shared = control.descriptions[slot];
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    DescriptionText copy;
    // Pairs with the last publish() in Events::set_description().
    copy.version = __atomic_load_n(&shared.version, __ATOMIC_ACQUIRE);
    const std::uint32_t at = __atomic_load_n(&shared.text, __ATOMIC_RELAXED);
    const std::uint32_t size = __atomic_load_n(&shared.size, __ATOMIC_RELAXED);
    const bool inside = size <= event::kMaxDescription && at >= sizeof control && at <= plan::kControlBytes - size;
    if (inside) copy.text.assign(reinterpret_cast<const char*>(&control) + at, size);
    // Pairs with the release fence there.
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool is_one = __atomic_load_n(&shared.version, __ATOMIC_RELAXED) == copy.version && copy.version % 2 == 0;
    if (is_one) return copy;
  }
  return std::nullopt;
}

Result<output::EventType> type_of(const SlotText& slot) {
  std::string_view rest = slot.text;
  auto system = take_terminated(rest);
  auto name = take_terminated(rest);
  const auto fields = take_terminated(rest);
  const auto flavour = take_terminated(rest);
  if (!system || !name || !fields || !flavour || name->empty()) return fail(EINVAL, "an event slot without its texts");
  output::EventType type;
  type.id = slot.id;
  type.system = std::move(*system);
  type.name = std::move(*name);
  LT_TRY(type.declaration, event::parse_declared(type.name, *fields, *flavour));
  return type;
}

void EventTable::refresh() {
  // Pairs with the count in Events::describe(): the slots that changed before it are seen. What changes later counts
  // again.
  const std::uint64_t changes = __atomic_load_n(&control_.event_changes, __ATOMIC_ACQUIRE);
  if (changes == changes_seen_) return;
  changes_seen_ = changes;
  // Pairs with the release store in Events::take_slot().
  const std::uint32_t high = std::min(__atomic_load_n(&control_.event_high, __ATOMIC_ACQUIRE), plan::kMaxEvents);
  for (std::uint32_t slot = 0; slot < high; ++slot) {
    const std::uint32_t generation = __atomic_load_n(&control_.events[slot].generation, __ATOMIC_RELAXED);
    if (generation != slots_[slot].generation) {
      resolve(slot);
    } else if (describe(slot)) {
      redescribed_.push_back(slots_[slot].type);
    }
  }
}

// True if something else is said of the event's structs now.
bool EventTable::describe(std::uint32_t slot) {
  Slot& known = slots_[slot];
  const std::uint32_t version = __atomic_load_n(&control_.descriptions[slot].version, __ATOMIC_RELAXED);
  if (known.type == nullptr || version == known.description) return false;
  auto copy = copy_description(control_, slot);
  // Nothing while it changes; or the slot has another event by now, of which that is said: pairs with the first
  // publish() in Events::take_slot(), which comes before the description goes.
  if (!copy || __atomic_load_n(&control_.events[slot].generation, __ATOMIC_ACQUIRE) != known.generation) return false;
  known.description = copy->version;
  known.type->description = std::move(copy->text);
  event::describe_structs(known.type->declaration, known.type->description);
  return true;
}

const output::EventType* EventTable::resolve(std::uint32_t slot) {
  if (slot == plan::kUserStackSlot) {
    types_.push_back(output::user_stack_type());
    ids_.set(plan::kUserStackId);
    return slots_[slot].type = &types_.back();
  }
  const auto copy = copy_slot_text(control_, slot);
  if (!copy || copy->generation == slots_[slot].generation) return slots_[slot].type;
  slots_[slot].generation = copy->generation;
  auto type = type_of(*copy);
  const auto id = free_id(copy->id);
  if (!type || !id) return slots_[slot].type = nullptr;
  type->id = *id;
  ids_.set(*id);
  types_.push_back(std::move(*type));
  slots_[slot].type = &types_.back();
  slots_[slot].description = 0;
  describe(slot);
  return slots_[slot].type;
}

// A slot keeps its id when it gets another event, but in one recording an id must mean one thing.
std::optional<std::uint16_t> EventTable::free_id(std::uint16_t wanted) const {
  if (!ids_[wanted]) return wanted;
  for (std::uint16_t id = kFirstSubstituteId; id > 0; --id) {
    if (!ids_[id]) return id;
  }
  return std::nullopt;
}

}  // namespace landtrace::buffer
