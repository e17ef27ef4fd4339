#include "plan/probe.hpp"

#include "arch/write.hpp"

namespace landtrace::plan {
namespace {

// nullptr where nobody listens, or the slot is another place's by now.
const ProbeHooks* hooks_of(const View& view, std::uint32_t index, std::uint32_t generation) {
  const ProbeSlot& slot = view.control->probes[index % kMaxProbes];
  // Pairs with the release store of publish() in the owner's ProbeSlots::set_hooks().
  const std::uint32_t offset = __atomic_load_n(&slot.hooks, __ATOMIC_ACQUIRE);
  if (offset == 0 || __atomic_load_n(&slot.generation, __ATOMIC_RELAXED) != generation || owner_died(view)) {
    return nullptr;
  }
  return control_at<ProbeHooks>(view, offset);
}

// One more, in the figures of this CPU: no two threads add to them at once, where there are restartable sequences.
void add_one(const View& view, const Thread& thread, std::uint64_t ProbeFigure::*which, std::uint16_t figure) {
  const bool restartable = thread.mode.area != nullptr;
  const std::uint32_t cpu = restartable ? thread.mode.area->cpu_id_start : 0;
  std::uint64_t& count = view.data->probe_figures[cpu % kProbeFigureRows][figure % kMaxProbeFigures].*which;
  const bool is_own_row = restartable && view.control->cpus <= kProbeFigureRows;
  if (is_own_row && arch::add_one_rseq(&count, thread.mode.area, cpu) == arch::WriteOutcome::kCommitted) return;
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

}  // namespace

void hit_probe(const View& view, const Thread& thread, const ProbeHit& hit) {
  const ProbeHooks* const hooks = hooks_of(view, hit.slot, hit.generation);
  if (hooks == nullptr) return;
  MadeOf from{
      .registers = hit.registers, .place = hit.place, .kept = hit.kept, .header = {hit.place, hit.return_address}};
  for (std::uint32_t i = 0; i < hooks->count; ++i) {
    const ProbeHook& hook = hooks->hooks()[i];
    if (hook.counted == hit.side) add_one(view, thread, &ProbeFigure::hits, hook.figure);
    if (hook.side != hit.side) continue;
    emit_made(view, thread, *control_at<EventProbePlan>(view, hook.plan), from);
  }
}

void miss_probe(const View& view, const Thread& thread, std::uint32_t slot, std::uint32_t generation, ProbeSide side) {
  const ProbeHooks* const hooks = hooks_of(view, slot, generation);
  for (std::uint32_t i = 0; hooks != nullptr && i < hooks->count; ++i) {
    const ProbeHook& hook = hooks->hooks()[i];
    if (hook.side == side) add_one(view, thread, &ProbeFigure::missed, hook.figure);
  }
}

}  // namespace landtrace::plan
