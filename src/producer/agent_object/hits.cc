#include "agent_object/hits.hpp"

#include "agent/site.hpp"
#include "client/process.hpp"
#include "plan/probe.hpp"

namespace landtrace::agent_object {
namespace {

constinit std::uint32_t generations[plan::kMaxProbes] = {};

void run(const agent::Site* site, const agent::Registers* registers, plan::ProbeSide side, std::uint64_t back,
         const agent::EntryData* kept) {
  const client::Place* const place = client::Process::place();
  if (place == nullptr) return;
  const plan::Section section(*place->thread.slot);
  plan::hit_probe(place->view, place->thread,
                  {site->number, generation_of(site->number), side, registers->value, site->place(), back,
                   kept == nullptr ? nullptr : kept->value});
}

void keep_arguments(const agent::Registers& registers, agent::EntryData& data) {
  constexpr agent::Register kOrder[plan::kKeptArguments] = {agent::kRdi, agent::kRsi, agent::kRdx,
                                                            agent::kRcx, agent::kR8,  agent::kR9};
  for (std::uint32_t i = 0; i < plan::kKeptArguments; ++i) data.value[i] = registers.value[kOrder[i]];
}

void on_entry(const agent::Site* site, agent::Registers* registers, agent::EntryData* data) {
  if (data != nullptr) keep_arguments(*registers, *data);
  run(site, registers, plan::ProbeSide::kEntry, 0, nullptr);
}

void on_return(const agent::Site* site, agent::Registers* registers, agent::EntryData* data) {
  run(site, registers, plan::ProbeSide::kReturn, registers->value[agent::kRip], data);
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

void lead_hits_to_plans() { agent::set_handlers({on_entry, on_return, on_missed}); }

void set_generation(std::uint32_t slot, std::uint32_t generation) {
  __atomic_store_n(&generations[slot % plan::kMaxProbes], generation, __ATOMIC_RELAXED);
}

std::uint32_t generation_of(std::uint32_t slot) {
  return __atomic_load_n(&generations[slot % plan::kMaxProbes], __ATOMIC_RELAXED);
}

}  // namespace landtrace::agent_object
