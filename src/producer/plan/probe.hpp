// Probes: events at places in programs' code. A place that an enabled event names has a slot, which says what is to
// happen when a thread comes by; the agent (agent/) leads it here with its registers.
//
//   ControlSegment::probes[slot] ---> ProbeHooks, immutable          EventProbePlan of each hook (event_probe.hpp)
//   +-------+------------+------+     0       4        8
//   | hooks | generation | site |     +-------+--------+--------+----
//   +-------+------------+------+     | count | needs  | hook 0 | …
//                           |         +-------+--------+--------+----
//                           v
//                           ProbeSite: the place, and how the agent gets there
//
// The owner publishes `hooks` by a release store, which pairs with the acquire load in hit_probe(), and frees old lists
// after a grace period. A program goes on to lead threads here for a while when nobody listens any more: then `hooks`
// is 0. A slot is taken for another place after that; the generation tells the two apart.
#pragma once

#include "arch/count_rseq.hpp"
#include "base/guess.hpp"
#include "plan/word_payload.hpp"

namespace landtrace::plan {

enum class ProbeSide : std::uint8_t { kEntry, kReturn };

//   0      4        6      7
//   +------+--------+------+---------+
//   | plan | figure | side | counted |
//   +------+--------+------+---------+
struct ProbeHook {
  // Offset of the EventProbePlan.
  std::uint32_t plan;
  // Which of DataSegment::probe_figures counts it.
  std::uint16_t figure;
  ProbeSide side;
  // Where a hit counts: of returns the kernel counts some when the function is called.
  ProbeSide counted;
};
LT_SHARED(ProbeHook, 8, 4);
LT_SHARED_AT(ProbeHook, plan, 0);
LT_SHARED_AT(ProbeHook, figure, 4);
LT_SHARED_AT(ProbeHook, side, 6);
LT_SHARED_AT(ProbeHook, counted, 7);

struct alignas(8) ProbeHooks {
  std::uint32_t count;
  // kNeeds…: what a call leaves for its return.
  std::uint32_t needs;

  [[nodiscard]] const ProbeHook* hooks() const { return reinterpret_cast<const ProbeHook*>(this + 1); }
};
LT_SHARED(ProbeHooks, 8, 8);
LT_SHARED_AT(ProbeHooks, count, 0);
LT_SHARED_AT(ProbeHooks, needs, 4);

// What was found at the last hit of a place, of one side (base/guess.hpp): the offset of its hooks, of the first one's
// plan, that one's event, and the offset of the event's plan.
struct ProbeGuess {
  std::uint32_t hooks, probe, event, plan;
};

struct ProbeHit {
  std::uint32_t slot;
  // Of the slot, when the agent put its jump there.
  std::uint32_t generation;
  ProbeSide side;
  ProbedMoment moment;
  // At an entry: where the call leaves what its return wants, or nullptr where no return of it will be seen.
  std::uint64_t* keep = nullptr;  // [kKeptWords]
  // nullptr: nobody remembers.
  ProbeGuess* guess = nullptr;
};

namespace detail {

// nullptr where nobody listens, or the slot is another place's by now.
inline const ProbeHooks* hooks_of(const View& view, std::uint32_t index, std::uint32_t generation,
                                  std::uint32_t* guess = nullptr) {
  const ProbeSlot& slot = view.control->probes[index % kMaxProbes];
  // Pairs with the release store of publish() in the owner's ProbeSlots::set_hooks().
  const std::uint32_t offset = guessed(__atomic_load_n(&slot.hooks, __ATOMIC_ACQUIRE), guess);
  if (offset == 0 || __atomic_load_n(&slot.generation, __ATOMIC_RELAXED) != generation || owner_died(view)) {
    return nullptr;
  }
  return control_at<ProbeHooks>(view, offset);
}

// One more, in the figures of this CPU: no two threads add to them at once, where there are restartable sequences.
inline void count_one(const View& view, const Thread& thread, std::uint64_t ProbeFigure::*which, std::uint16_t figure) {
  const bool restartable = thread.mode.area != nullptr;
  const std::uint32_t cpu = restartable ? thread.mode.area->cpu_id_start : 0;
  std::uint64_t& count = view.data->probe_figures[cpu % kProbeFigureRows][figure % kMaxProbeFigures].*which;
  const bool is_own_row = restartable && view.control->cpus <= kProbeFigureRows;
  if (is_own_row && arch::add_one_rseq(&count, thread.mode.area, cpu) == arch::WriteOutcome::kCommitted) return;
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

// A hook whose event is not of words alone.
void emit_hit_slowly(const View& view, const Thread& thread, const EventProbePlan& plan, const ProbedMoment& moment);

[[gnu::always_inline]] inline void emit_hit(const View& view, const Thread& thread, const ProbeHook& hook,
                                            const ProbedMoment& moment, ProbeGuess* guess) {
  const bool known = guess != nullptr;
  const auto& probe = *control_at<EventProbePlan>(view, guessed(hook.plan, known ? &guess->probe : nullptr));
  const std::uint32_t event = guessed(probe.event, known ? &guess->event : nullptr);
  const std::uint32_t offset = guessed(plan_of(view, event), known ? &guess->plan : nullptr);
  if (offset == 0) return;
  const Plan& plan = *control_at<Plan>(view, offset);
  if (is_refused_by_register(view, plan, probe, moment.registers)) return;
  alignas(8) std::byte payload[kMaxWordPayload];
  const WordPayload made = make_of_words(probe, thread, moment, payload);
  if (__builtin_expect(made != WordPayload::kReady, 0)) {
    const ProbedMoment copy = moment;  // so that the other one need not be in memory
    return made == WordPayload::kNothing ? void() : emit_hit_slowly(view, thread, probe, copy);
  }
  const Segment segment{payload, probe.values_size};
  emit_by_plan(view, thread, plan, event, &segment, 1, probe.values_size, TimeOfWrite{});
}

inline void keep_arguments(const std::uint64_t* registers, std::uint64_t* keep) {
  constexpr Register kOrder[kKeptArguments] = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
  for (std::uint32_t i = 0; i < kKeptArguments; ++i) keep[i] = registers[kOrder[i]];
}

}  // namespace detail

// Runs the hooks of that side. The caller is inside a Section. Async-signal-safe; no system call but those of emit.hpp.
// In line, as all of emit.hpp is, and one for entries and one for returns: what a hit costs beside the clock is mostly
// calls and what passes through memory.
[[gnu::always_inline]] inline void hit_probe(const View& view, const Thread& thread, const ProbeHit& hit) {
  const ProbeHooks* const hooks =
      detail::hooks_of(view, hit.slot, hit.generation, hit.guess == nullptr ? nullptr : &hit.guess->hooks);
  if (hit.keep != nullptr) hit.keep[kKeptWhich] = hooks == nullptr ? 0 : hooks->needs;
  if (hooks == nullptr) return;
  ProbeGuess* guess = hit.guess;
  const ProbeHook* hook = hooks->hooks();
  for (const ProbeHook* const end = hook + hooks->count; hook != end; ++hook) {
    if (hook->counted == hit.side) detail::count_one(view, thread, &ProbeFigure::hits, hook->figure);
    if (hook->side == hit.side) {
      detail::emit_hit(view, thread, *hook, hit.moment, guess);
      guess = nullptr;  // the others' would take its place
    }
  }
  if (__builtin_expect(hit.keep == nullptr || hooks->needs == 0, 1)) return;
  if ((hooks->needs & kNeedsArguments) != 0) detail::keep_arguments(hit.moment.registers, hit.keep);
  // The last of all, so that the call takes as long as it does without its events.
  if ((hooks->needs & kNeedsTime) != 0) hit.keep[kKeptTime] = arch::read_raw_clock(thread.mode.clock);
}
// Counts that the hooks of that side were not run.
void miss_probe(const View& view, const Thread& thread, std::uint32_t slot, std::uint32_t generation, ProbeSide side);

}  // namespace landtrace::plan
