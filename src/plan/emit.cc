#include "plan/emit.hpp"

#include "plan/section.hpp"

namespace landtrace::plan {
namespace {

void record(const View& view, const Thread& thread, const PlanStep& step, const ring::RecordSpec& spec) {
  if (__atomic_load_n(&view.data->instances[step.instance].stopped, __ATOMIC_RELAXED) != 0) return;
  const ControlSegment& control = *view.control;
  const auto* consumed = reinterpret_cast<const std::uint64_t*>(
      reinterpret_cast<const std::byte*>(view.control) + step.consumed);
  const ring::RingSet rings{reinterpret_cast<std::byte*>(view.data) + step.rings,
                            consumed + static_cast<std::size_t>(view.user) * (control.cpus + control.claimed),
                            {step.size_log2},
                            control.cpus,
                            control.claimed};
  ring::write(rings, thread.mode, spec);
}

}  // namespace

bool emit_in_section(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
                     std::uint32_t segment_count, std::uint32_t size) {
  // Pairs with the release store in domain/publisher.cc.
  const std::uint32_t offset = __atomic_load_n(&view.control->events[event].plan, __ATOMIC_ACQUIRE);
  if (offset == 0 || owner_died(view)) return false;
  const Plan& plan = *control_at<Plan>(view, offset);
  const ring::RecordSpec spec{thread.tid, static_cast<std::uint16_t>(event), size, segments, segment_count};
  for (std::uint32_t i = 0; i < plan.step_count; ++i) {
    const PlanStep& step = plan.steps()[i];
    switch (step.kind) {
      case StepKind::kRecord:
        record(view, thread, step, spec);
        break;
    }
  }
  return true;
}

bool emit(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
          std::uint32_t segment_count, std::uint32_t size) {
  const Section section(*thread.slot);
  return emit_in_section(view, thread, event, segments, segment_count, size);
}

}  // namespace landtrace::plan
