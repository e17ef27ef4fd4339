// Places for which there is no jump of their own, as another place's displaces their bytes: two USDT places one behind
// the other, say. The jump that is there serves them, too: its stub hands the registers on where the copy of the
// displaced instructions gets to them.
#include <algorithm>
#include <utility>

#include "agent/agent.hpp"
#include "agent/jump.hpp"

namespace landtrace::agent {

bool Agent::Known::is_wanted() const {
  return site->wants != 0 ||
         std::any_of(inner.begin(), inner.end(), [](const Inner& one) { return one.site->wants != 0; });
}

std::vector<std::uint32_t> Agent::Known::distances() const {
  std::vector<std::uint32_t> all;
  for (const Inner& one : inner) all.push_back(one.distance);
  return all;
}

Site* Agent::Known::site_of(std::uint64_t place) const {
  if (site->place() == place) return site.get();
  for (const Inner& one : inner) {
    if (one.site->place() == place) return one.site.get();
  }
  return nullptr;
}

void Agent::set_site(Site& site, const Place& place) {
  if (site.number != place.number) site.missed = 0;
  site.number = place.number;
  site.limit = place.limit;
  // Pairs with the hits that find it through the jump, which may be written later.
  __atomic_store_n(&site.wants, place.wants, __ATOMIC_RELEASE);
}

// What the places want that use one stub is said to another, to which their jump will lead.
void Agent::prepare(const Known& before, Known& now) {
  for (const auto& place : places_) {
    for (const Patched& patched : place->patched) {
      Site* const site = patched.known == &before ? now.site_of(patched.site->place()) : nullptr;
      if (site != nullptr) set_site(*site, *place);
    }
  }
}

// It does by now.
void Agent::move_places(Known& before, Known& now) {
  if (&before == &now) return;
  for (const auto& place : places_) {
    for (Patched& patched : place->patched) {
      Site* const site = patched.known == &before ? now.site_of(patched.site->place()) : nullptr;
      if (site == nullptr) continue;
      patched.site->wants = 0;
      patched.known = &now;
      patched.site = site;
    }
  }
  before.site->wants = 0;
}

// True: there may be room now for what had none.
bool Agent::make_room() {
  bool is_cleared = false;
  for (const Crowded& one : crowded_) {
    if (share_jump(one)) {
      one.place->reason = Reason::kNone;
    } else {
      is_cleared = clear_way(one) || is_cleared;
    }
  }
  return is_cleared;
}

namespace {

// Whether the copy gets to the place so far behind the jump, which the jump's own bytes or instructions are.
bool has_instruction(const Recipe& recipe, std::uint64_t distance) {
  return distance != 0 && distance < recipe.displaced && distance < kMaxDisplaced && recipe.copy_at[distance] != 0;
}

}  // namespace

Agent::Known* Agent::find_host(const Crowded& one) {
  const std::uint64_t at = one.address + one.place->recipe.lead;
  for (const auto& place : places_) {
    for (const Patched& patched : place->patched) {
      Known& known = *patched.known;
      if (at < known.address) continue;
      if (known.site_of(at) != nullptr || has_instruction(known.recipe, at - known.address)) return &known;
    }
  }
  return nullptr;
}

bool Agent::share_jump(const Crowded& one) {
  Known* const host = find_host(one);
  if (host == nullptr) return false;
  Site* const site = host->site_of(one.address + one.place->recipe.lead);
  if (site == nullptr) return add_to_host(*host, one);
  if (site->wants != 0) return false;  // another number's
  set_site(*site, *one.place);
  one.place->patched.push_back({host, one.place->recipe.way, one.address, site});
  return true;
}

// A stub that hands on the place's hits, too, takes the host's place.
bool Agent::add_to_host(Known& host, const Crowded& one) {
  std::vector<std::uint32_t> inner = host.distances();
  if (inner.size() == kMaxInner) return false;
  const std::uint64_t at = one.address + one.place->recipe.lead;
  const auto distance = static_cast<std::uint32_t>(at - host.address);
  inner.insert(std::upper_bound(inner.begin(), inner.end(), distance), distance);
  Reason reason = Reason::kNone;
  Known* const now = make_stub({host.recipe, host.address, host.form, host.site->number, std::move(inner)}, reason);
  if (now == nullptr) return false;
  now->gone_since = 0;
  now->site->number = host.site->number;
  prepare(host, *now);
  set_site(*now->site_of(at), *one.place);
  // From a jump to a jump: a thread stands before it or is through.
  std::vector<Job> jobs(1, Job{one.place, now, {}, Way::kOneStore, true});
  set_jump(jobs[0]);
  if (crosses_words(host.address, jobs[0].size)) jobs[0].way = Way::kAlone;
  write(jobs);
  if (!jobs[0].done) {
    for (Site* const site : {now->site.get(), now->site_of(at)}) site->wants = 0;
    for (Known::Inner& each : now->inner) each.site->wants = 0;
    return false;
  }
  move_places(host, *now);
  one.place->patched.push_back({now, one.place->recipe.way, one.address, now->site_of(at)});
  return true;
}

// Takes away the jumps that are in the way of the place's own, which will serve their places, too.
bool Agent::clear_way(const Crowded& one) {
  const Recipe& recipe = one.place->recipe;
  std::vector<Known*> in_the_way;
  for (const auto& place : places_) {
    for (const Patched& patched : place->patched) {
      const std::uint64_t begin = patched.known->address;
      if (begin <= one.address || begin >= one.address + recipe.displaced) continue;
      if (!has_instruction(recipe, patched.site->place() - one.address)) return false;
      if (std::find(in_the_way.begin(), in_the_way.end(), patched.known) == in_the_way.end()) {
        in_the_way.push_back(patched.known);
      }
    }
  }
  if (in_the_way.empty()) return false;
  std::vector<Job> jobs;
  for (const auto& place : places_) {
    std::erase_if(place->patched, [&](Patched& patched) {
      if (std::find(in_the_way.begin(), in_the_way.end(), patched.known) == in_the_way.end()) return false;
      leave_counting(patched);
      patched.site->wants = 0;
      return true;
    });
  }
  for (Known* const known : in_the_way) plan_removal(*known, jobs);
  write(jobs);
  settle(jobs);
  return true;
}

}  // namespace landtrace::agent
