#include "agent_object/hits.hpp"

#include <cstddef>
#include <iterator>

#include "agent/data_plane.hpp"
#include "agent/site.hpp"
#include "client/process.hpp"
#include "plan/probe.hpp"
#include "plan/stack.hpp"

namespace landtrace::agent_object {
namespace {

constinit std::uint32_t generations[plan::kMaxProbes] = {};

static_assert(plan::kKeptWords == std::size(agent::EntryData{}.value));

static_assert(sizeof(plan::ProbeGuess) == sizeof agent::Site::of_entries && offsetof(agent::Site, of_returns) == 64);

// A thread of ours hits what is probed before it can say whose it is: the C library begins it.
bool is_on_own_stack(const std::uint64_t* registers) {
  const Stack& stack = own_stack();
  return registers[agent::kRsp] - reinterpret_cast<std::uintptr_t>(stack.begin) < stack.size;
}

[[gnu::always_inline]] inline const client::Place* place_of(const std::uint64_t* registers) {
  if (__builtin_expect(!client::Process::has_place(), 0) && is_on_own_stack(registers)) return nullptr;
  return client::Process::place();
}

[[gnu::always_inline]] inline void run(const agent::Site* site, plan::ProbeSide side, const plan::ProbedMoment& moment,
                                       std::uint64_t* keep) {
  const client::Place* const place = place_of(moment.registers);
  if (place == nullptr) {
    if (keep != nullptr) keep[plan::kKeptWhich] = 0;
    return;
  }
  const plan::Section section(*place->thread.slot);
  auto* const guess =
      reinterpret_cast<plan::ProbeGuess*>(side == plan::ProbeSide::kEntry ? site->of_entries : site->of_returns);
  plan::hit_probe(place->view, place->thread, {site->number, generation_of(site->number), side, moment, keep, guess});
}

void on_entry(const agent::Site* site, agent::Registers* registers, agent::EntryData* data) {
  run(site, plan::ProbeSide::kEntry, {registers->value, site->place(), 0, nullptr},
      data == nullptr ? nullptr : data->value);
}

void on_return(const agent::Site* site, agent::Registers* registers, agent::EntryData* data) {
  run(site, plan::ProbeSide::kReturn, {registers->value, site->place(), registers->value[agent::kRip], data->value},
      nullptr);
}

void on_missed(const agent::Site* site, std::uint32_t wants) {
  const client::Place* const place = client::Process::place();
  if (place == nullptr) return;
  const plan::Section section(*place->thread.slot);
  const std::uint32_t generation = generation_of(site->number);
  for (const auto side : {plan::ProbeSide::kEntry, plan::ProbeSide::kReturn}) {
    const std::uint32_t bit = side == plan::ProbeSide::kEntry ? agent::kWantsEntry : agent::kWantsReturn;
    if ((wants & bit) != 0) plan::miss_probe(place->view, place->thread, site->number, generation, side);
  }
}

}  // namespace

void lead_hits_to_plans() {
  const agent::CodeRange stubs = agent::return_stubs();
  plan::set_code_between(stubs.begin, stubs.end);
  plan::set_own_frames({.led_from = agent::registers_of_hit});
  agent::set_handlers({on_entry, on_return, on_missed});
}

void set_generation(std::uint32_t slot, std::uint32_t generation) {
  __atomic_store_n(&generations[slot % plan::kMaxProbes], generation, __ATOMIC_RELAXED);
}

std::uint32_t generation_of(std::uint32_t slot) {
  return __atomic_load_n(&generations[slot % plan::kMaxProbes], __ATOMIC_RELAXED);
}

}  // namespace landtrace::agent_object
