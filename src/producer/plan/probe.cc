#include "plan/probe.hpp"

#include "plan/made_payload.hpp"

namespace landtrace::plan {

void detail::emit_hit_slowly(const View& view, const Thread& thread, const EventProbePlan& plan,
                             const ProbedMoment& moment) {
  emit_made(view, thread, plan, {.probed = &moment});
}

void miss_probe(const View& view, const Thread& thread, std::uint32_t slot, std::uint32_t generation, ProbeSide side) {
  const ProbeHooks* const hooks = detail::hooks_of(view, slot, generation);
  for (std::uint32_t i = 0; hooks != nullptr && i < hooks->count; ++i) {
    const ProbeHook& hook = hooks->hooks()[i];
    if (hook.side == side) detail::count_one(view, thread, &ProbeFigure::missed, hook.figure);
  }
}

}  // namespace landtrace::plan
