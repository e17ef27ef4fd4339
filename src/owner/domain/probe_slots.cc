#include "domain/probe_slots.hpp"

#include <fmt/format.h>
#include <linux/futex.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <random>

#include "base/system_call.hpp"

namespace landtrace::domain {

// An agent that moves from one owner to the next does not take another place for its own.
ProbeSlots::ProbeSlots(ControlMemory& control, Users& users, Grace& grace)
    : control_(control), users_(users), grace_(grace), first_generation_(std::random_device()() | 1) {}

// One that was never used, as long as there is one: an agent that is late has jumps in place for the last place of a
// slot, and the generation tells them that they mean another one.
Result<std::uint32_t> ProbeSlots::take(const agent::ProbeSite& site) {
  plan::ControlSegment& segment = control_.segment();
  const bool is_new = segment.probe_high < plan::kMaxProbes;
  if (!is_new && free_slots_.empty()) {
    return fail(ENOSPC, fmt::format("{} places in code are probed, as many as there can be", plan::kMaxProbes));
  }
  LT_TRY(const std::uint32_t stored, control_.store(std::as_bytes(std::span(&site, 1))));
  const std::uint32_t index = is_new ? segment.probe_high : free_slots_.front();
  plan::ProbeSlot& slot = segment.probes[index];
  __atomic_store_n(&slot.generation, is_new ? first_generation_ : slot.generation + 1, __ATOMIC_RELAXED);
  // Pairs with the acquire load in the agent's Sites::follow(): the generation, and the site, are there.
  publish(slot.site, stored);
  if (is_new) {
    __atomic_store_n(&segment.probe_high, index + 1, __ATOMIC_RELAXED);
  } else {
    free_slots_.pop_front();
  }
  ++taken_;
  tell_agents();
  return index;
}

Result<void> ProbeSlots::replace(std::uint32_t index, const agent::ProbeSite& site) {
  LT_TRY(const std::uint32_t stored, control_.store(std::as_bytes(std::span(&site, 1))));
  plan::ProbeSlot& slot = control_.segment().probes[index];
  const std::uint32_t old = slot.site;
  __atomic_store_n(&slot.version, slot.version + 1, __ATOMIC_RELAXED);
  // As in take().
  publish(slot.site, stored);
  grace_.after_readers([this, old] { control_.free(old); });
  tell_agents();
  return {};
}

void ProbeSlots::give_back(std::uint32_t index) {
  plan::ProbeSlot& slot = control_.segment().probes[index];
  std::ignore = set_hooks(index, {});  // of nothing, which needs no room
  const std::uint32_t site = slot.site;
  publish(slot.site, 0);
  grace_.after_readers([this, index, site] {
    control_.free(site);
    free_slots_.push_back(index);
  });
  --taken_;
  tell_agents();
}

Result<void> ProbeSlots::set_hooks(std::uint32_t index, std::span<const plan::ProbeHook> hooks, std::uint32_t needs) {
  std::uint32_t next = 0;
  if (!hooks.empty()) {
    const plan::ProbeHooks head{static_cast<std::uint32_t>(hooks.size()), needs};
    LT_TRY(next, control_.allocate(sizeof head + hooks.size_bytes(), alignof(plan::ProbeHooks)));
    std::memcpy(control_.at(next), &head, sizeof head);
    std::memcpy(control_.at(next) + sizeof head, hooks.data(), hooks.size_bytes());
  }
  plan::ProbeSlot& slot = control_.segment().probes[index];
  const std::uint32_t old = slot.hooks;
  // Pairs with the acquire load in hooks_of(), plan/probe.hpp.
  publish(slot.hooks, next);
  if (old != 0) grace_.after_readers([this, old] { control_.free(old); });
  return {};
}

// The change, then its number: pairs with the acquire load in the agent's Sites::follow().
void ProbeSlots::tell_agents() {
  std::uint32_t& changes = control_.segment().probe_changes;
  __atomic_fetch_add(&changes, 1, __ATOMIC_RELEASE);
  system_call(SYS_futex, &changes, FUTEX_WAKE, INT_MAX);
}

Result<std::uint16_t> ProbeSlots::take_figure() {
  std::uint16_t figure = static_cast<std::uint16_t>(before_.size());
  if (before_.size() < plan::kMaxProbeFigures) {
    before_.emplace_back();
  } else if (!free_figures_.empty()) {
    figure = free_figures_.front();
    free_figures_.pop_front();
  } else {
    return fail(ENOSPC, fmt::format("there are {} probes, as many as there can be", plan::kMaxProbeFigures));
  }
  before_[figure] = sum(figure);
  return figure;
}

plan::ProbeFigure ProbeSlots::figure(std::uint16_t figure) const {
  const plan::ProbeFigure now = sum(figure);
  const plan::ProbeFigure& before = before_[figure];
  return {now.hits - before.hits, now.missed - before.missed};
}

// Users write what they like there: any sum will do.
plan::ProbeFigure ProbeSlots::sum(std::uint16_t figure) const {
  plan::ProbeFigure sum{};
  const std::uint32_t rows = std::min(control_.segment().cpus, plan::kProbeFigureRows);
  for (const User& user : users_.all()) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      const plan::ProbeFigure& one = user.data().probe_figures[row][figure];
      sum.hits += __atomic_load_n(&one.hits, __ATOMIC_RELAXED);
      sum.missed += __atomic_load_n(&one.missed, __ATOMIC_RELAXED);
    }
  }
  return sum;
}

}  // namespace landtrace::domain
