#include "agent_object/sites.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/presence.hpp"
#include "agent/probe_site.hpp"
#include "agent_object/hits.hpp"
#include "client/process.hpp"
#include "ipc/socket.hpp"
#include "plan/probe.hpp"
#include "plan/stack.hpp"

extern "C" {
__attribute__((visibility(
    "default"))) constinit landtrace::agent::ShownPlace landtrace_agent_places[landtrace::agent::kShownPlaces] = {};
}

namespace landtrace::agent_object {
namespace {

static_assert(agent::kShownPlaces == plan::kMaxProbes);

void hide(std::uint32_t slot) { landtrace_agent_places[slot] = {}; }

agent::Wanted wanted_of(const agent::ProbeSite& site, std::uint32_t slot) {
  agent::Wanted wanted{};
  wanted.object.device = site.device;
  wanted.object.inode = site.inode;
  wanted.object.build_id_size = std::min<std::uint8_t>(site.build_id_size, agent::kMostBuildId);
  std::memcpy(wanted.object.build_id, site.build_id, wanted.object.build_id_size);
  wanted.offset = site.offset;
  wanted.recipe = &site.recipe;
  wanted.number = slot;
  wanted.wants = site.sides;
  wanted.limit = site.maxactive;
  wanted.counter = site.counter;
  return wanted;
}

}  // namespace

void Sites::let_all_go() {
  control_ = nullptr;
  std::vector<std::uint32_t> gone;
  for (std::uint32_t slot = 0; slot < known_.size(); ++slot) {
    if (std::exchange(known_[slot], {}).generation != 0) gone.push_back(slot);
  }
  for (const std::uint32_t slot : gone) {
    set_generation(slot, 0);
    hide(slot);
  }
  if (!gone.empty()) agent_.drop(gone);
}

void Sites::follow(const client::Place& place) {
  const plan::ControlSegment& control = *place.view.control;
  if (control_ != &control) let_all_go();
  control_ = &control;
  // Pairs with the release in ProbeSlots::tell_agents(): what the number says has happened is there.
  changes_ = __atomic_load_n(&control.probe_changes, __ATOMIC_ACQUIRE);
  const std::uint32_t high = std::min(__atomic_load_n(&control.probe_high, __ATOMIC_RELAXED), plan::kMaxProbes);
  known_.resize(std::max<std::size_t>(known_.size(), high));
  std::vector<std::uint32_t> gone;
  std::vector<std::uint32_t> came;
  std::vector<agent::ProbeSite> sites;
  {
    // What stands in the control segment is freed behind the backs of those who are outside.
    const plan::Section section(*place.thread.slot);
    for (std::uint32_t slot = 0; slot < high; ++slot) {
      const plan::ProbeSlot& shared = control.probes[slot];
      // Pairs with the release store of publish() in ProbeSlots::take().
      const std::uint32_t at = __atomic_load_n(&shared.site, __ATOMIC_ACQUIRE);
      const std::uint32_t generation = at == 0 ? 0 : __atomic_load_n(&shared.generation, __ATOMIC_RELAXED);
      const std::uint32_t version = __atomic_load_n(&shared.version, __ATOMIC_RELAXED);
      Known& known = known_[slot];
      if (known.generation == generation && (generation == 0 || known.version == version)) continue;
      if (known.generation != 0 && known.generation != generation) gone.push_back(slot);
      known = {generation, version, 0, known.generation == generation ? known.told : std::uint8_t{0}};
      if (generation == 0) continue;
      came.push_back(slot);
      sites.push_back(*plan::control_at<agent::ProbeSite>(place.view, at));
    }
  }
  for (const std::uint32_t slot : gone) {
    set_generation(slot, 0);
    hide(slot);
  }
  if (!gone.empty()) agent_.drop(gone);
  std::vector<agent::Wanted> wanted;
  for (std::size_t i = 0; i < came.size(); ++i) {
    set_generation(came[i], known_[came[i]].generation);
    wanted.push_back(wanted_of(sites[i], came[i]));
  }
  std::vector<agent::Outcome> outcomes(wanted.size());
  if (!wanted.empty()) agent_.apply(wanted, outcomes);
  for (std::size_t i = 0; i < came.size(); ++i) {
    landtrace_agent_places[came[i]] = {sites[i].inode, sites[i].offset, known_[came[i]].generation, 0, 0, 0};
    show(came[i], outcomes[i]);
  }
  note_objects(place);
  tell_owner();
}

void Sites::show(std::uint32_t slot, const agent::Outcome& outcome) {
  agent::ShownPlace& shown = landtrace_agent_places[slot];
  shown.state = static_cast<std::uint8_t>(outcome.state);
  shown.reason = static_cast<std::uint8_t>(outcome.reason);
  known_[slot].refused = outcome.state == agent::PlaceState::kRefused ? shown.reason : std::uint8_t{0};
}

void Sites::show_again() {
  for (std::uint32_t slot = 0; slot < known_.size(); ++slot) {
    if (known_[slot].generation != 0) show(slot, agent_.outcome(slot));
  }
  tell_owner();
}

bool Sites::has_busy() const {
  return std::any_of(known_.begin(), known_.end(), [](const Known& known) {
    return known.refused == static_cast<std::uint8_t>(agent::Reason::kBusy);
  });
}

// Who records says so when the program has ended, and nobody can look into it any more.
void Sites::tell_owner() {
  std::string text;
  std::vector<Known*> told;
  for (std::uint32_t slot = 0; slot < known_.size(); ++slot) {
    Known& known = known_[slot];
    if (known.generation == 0 || known.told == known.refused) continue;
    const ipc::RefusedPlace place{slot, known.generation, known.refused, {}};
    if (text.size() + sizeof place > ipc::kMaxText) break;
    told.push_back(&known);
    text.append(reinterpret_cast<const char*>(&place), sizeof place);
  }
  if (text.empty()) return;
  const auto answer = client::Process::get().ask({.operation = ipc::Operation::kPlacesRefused}, text);
  // Else in the next round: an owner may have been too busy.
  if (!answer && ipc::nobody_answers(answer.error().code)) return;
  for (Known* const known : told) known->told = known->refused;
}

void Sites::note_objects(const client::Place& place) const {
  struct Noting {
    const client::Place& place;
    std::uint64_t page;
  } noting{place, 0};
  const auto note = [](void* self, std::uint64_t address) {
    constexpr unsigned kPage = 12;
    auto& to = *static_cast<Noting*>(self);
    if (std::exchange(to.page, (address >> kPage) + 1) == (address >> kPage) + 1) return;
    const plan::Section section(*to.place.thread.slot);
    plan::note_object_at(to.place.view, to.place.thread, address);
  };
  agent_.see_patched(note, &noting);
}

}  // namespace landtrace::agent_object
