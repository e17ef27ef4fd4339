#include "perf/tracepoints.hpp"

#include <algorithm>

#include "buffer/event_table.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::perf {
namespace {

// The field that events of probes have; that of those at returns says where the call goes on.
std::optional<std::uint32_t> address_in(const event::Declaration& declaration) {
  for (const event::Field& field : declaration.fields) {
    if (field.name != "__probe_ip" && field.name != "__probe_ret_ip") continue;
    if (field.size == sizeof(std::uint64_t)) return field.offset - abi::kEntryHeaderSize;
  }
  return std::nullopt;
}

}  // namespace

Result<void> Tracepoints::connect(const std::string& socket) {
  if (view_ && !view_->owner_died()) return {};
  LT_TRY(consumer::DomainView view, consumer::DomainView::connect(socket));
  socket_ = socket;
  view_ = std::make_unique<consumer::DomainView>(std::move(view));
  return {};
}

std::optional<Tracepoint> Tracepoints::find(std::uint64_t id) const {
  const plan::ControlSegment& control = view_->control();
  // Pairs with the release store in the owner's Events: the slots below are complete.
  const std::uint32_t end = std::min(__atomic_load_n(&control.event_high, __ATOMIC_ACQUIRE), plan::kMaxEvents);
  for (std::uint32_t slot = plan::kFirstEventSlot; slot < end; ++slot) {
    if (control.events[slot].id != id || __atomic_load_n(&control.events[slot].registered, __ATOMIC_RELAXED) == 0) {
      continue;
    }
    const auto text = buffer::copy_slot_text(control, slot);
    if (!text || text->id != id) continue;
    const auto type = buffer::type_of(*text);
    if (type) return Tracepoint{slot, type->id, type->system, type->name, address_in(type->declaration)};
  }
  return std::nullopt;
}

Result<void> Tracepoints::hold(const Tracepoint& tracepoint) {
  std::string name = tracepoint.system + '\0' + tracepoint.name;
  name += '\0';
  std::ignore = view_->ask({.operation = ipc::Operation::kHoldEvent}, name);
  return view_->map_new_users();
}

Result<void> Tracepoints::check_filter(const Tracepoint& tracepoint, const std::string& filter) const {
  const auto text = buffer::copy_slot_text(view_->control(), tracepoint.slot);
  if (!text) return fail(ENODEV);
  if (filter.empty()) return {};
  LT_TRY(const output::EventType type, buffer::type_of(*text));
  const auto program = language::compile_filter(filter, {type.declaration.fields, view_->cpus()});
  if (!program) return fail(EINVAL);
  return {};
}

}  // namespace landtrace::perf
