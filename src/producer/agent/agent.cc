#include "agent/agent.hpp"

#include <linux/membarrier.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "agent/loader.hpp"
#include "agent/raw.hpp"
#include "agent/reference_counter.hpp"

namespace landtrace::agent {
namespace {

constexpr std::uint64_t kGrace = 1'000'000'000;  // ns
constexpr std::uint32_t kPlenty = kSlots / 4;
constexpr std::uint32_t kLoaderNumber = 0xffffffff;

std::uint64_t monotonic_ns() {
  timespec time = {};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&time));
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

Agent::Agent(OwnObject own) {
  raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  if (own == OwnObject::kLeaveAlone) keep_off(reinterpret_cast<const void*>(&set_handlers));
}

Agent::~Agent() {
  objects_.read();
  std::vector<Job> jobs;
  with_loader_locked([this] {
    for (const auto& place : places_) stop_counting(*place);
  });
  for (const auto& place : places_) plan_removal(*place, jobs);
  if (loader_ != nullptr) plan_removal(*loader_, jobs);
  write(jobs);
  // Threads may be on their way through stubs, and calls may come back: sites and stubs stay.
  for (auto& [address, known] : known_) {
    (void)known->site.release();
    for (Known::Inner& inner : known->inner) (void)inner.site.release();
  }
}

Agent::Place* Agent::find(std::uint32_t number) {
  for (const auto& place : places_) {
    if (place->number == number) return place.get();
  }
  return nullptr;
}

const Agent::Place* Agent::find(std::uint32_t number) const { return const_cast<Agent*>(this)->find(number); }

void Agent::keep_off(const void* address) { kept_off_.push_back(reinterpret_cast<std::uint64_t>(address)); }

void Agent::apply(std::span<const Wanted> wanted, std::span<Outcome> outcomes) {
  std::map<std::uint32_t, Place*> by_number;
  for (const auto& place : places_) by_number[place->number] = place.get();
  for (const Wanted& one : wanted) {
    Place*& place = by_number[one.number];
    if (place == nullptr) {
      places_.push_back(std::make_unique<Place>());
      place = places_.back().get();
    }
    place->object = one.object;
    place->offset = one.offset;
    // What a patched place displaced stays what it was.
    if (place->patched.empty()) place->recipe = *one.recipe;
    place->number = one.number;
    place->wants = one.wants;
    place->limit = one.limit;
    place->counter = one.counter;
    place->reason = Reason::kNone;
  }
  // A place is there before those that its jump may serve, too.
  std::stable_sort(places_.begin(), places_.end(), [](const auto& a, const auto& b) { return a->offset < b->offset; });
  objects_.read();
  carry_out();
  for (std::size_t i = 0; i < wanted.size() && i < outcomes.size(); ++i) {
    outcomes[i] = outcome_of(*by_number[wanted[i].number]);
  }
}

void Agent::carry_out() {
  constexpr unsigned kRounds = 4;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<Job> jobs;
    std::vector<std::uint64_t> addresses;
    crowded_.clear();
    for (const auto& place : places_) {
      addresses.clear();
      objects_.find(place->object, place->offset, addresses);
      if (place->reason == Reason::kBusy) place->reason = Reason::kNone;
      forget_gone(*place, addresses);
      plan(*place, addresses, jobs);
    }
    write(jobs);
    settle(jobs);
    if (crowded_.empty() || !make_room()) break;
    objects_.read();
  }
  count_places();
}

// An object that is gone, or was and is there again: then its bytes are the file's. A jump that stands there leads
// through its stub whatever else can be said: the file has been replaced, the program has gone to where /proc is not,
// or it has copied its code to larger pages.
void Agent::forget_gone(Place& place, std::span<const std::uint64_t> addresses) {
  std::erase_if(place.patched, [&](const Patched& patched) {
    Known& known = *patched.known;
    const bool is_there = std::find(addresses.begin(), addresses.end(), patched.address) != addresses.end();
    std::uint8_t bytes[kJumpSize] = {};
    Job job = {&place, &known, {}, patched.way, true};
    set_jump(job);
    if (read_memory(known.address, bytes, job.size) && std::memcmp(bytes, job.bytes, job.size) == 0) return false;
    if (is_there) lower_counter(patched.counter);
    patched.site->wants = 0;
    if (!is_there) known.gone_since = monotonic_ns();
    if (!is_there && known.spring != 0) springs_.erase(known.spring);
    occupied_.erase(known.address);
    return true;
  });
}

void Agent::drop(std::span<const std::uint32_t> numbers) {
  objects_.read();
  std::vector<Job> jobs;
  std::vector<std::unique_ptr<Place>> dropped;
  for (auto& place : places_) {
    if (std::find(numbers.begin(), numbers.end(), place->number) == numbers.end()) continue;
    with_loader_locked([&] { stop_counting(*place); });
    plan_removal(*place, jobs);
    dropped.push_back(std::move(place));
  }
  std::erase(places_, nullptr);
  write(jobs);
  settle(jobs);
}

Outcome Agent::outcome_of(const Place& place) const {
  Outcome outcome;
  outcome.reason = place.reason;
  outcome.addresses = static_cast<std::uint32_t>(place.patched.size());
  if (!place.patched.empty()) {
    outcome.state = PlaceState::kPatched;
    outcome.way = place.patched.back().way;
  } else if (place.reason != Reason::kNone) {
    outcome.state = PlaceState::kRefused;
  }
  return outcome;
}

Outcome Agent::outcome(std::uint32_t number) const {
  const Place* place = find(number);
  return place != nullptr ? outcome_of(*place) : Outcome{};
}

void Agent::see_patched(void (*see)(void* self, std::uint64_t address), void* self) const {
  for (const auto& place : places_) {
    for (const Patched& patched : place->patched) see(self, patched.known->address);
  }
}

std::uint64_t Agent::missed(std::uint32_t number) const {
  std::uint64_t missed = 0;
  const Place* place = find(number);
  if (place == nullptr) return 0;
  for (const Patched& patched : place->patched) missed += __atomic_load_n(&patched.site->missed, __ATOMIC_RELAXED);
  return missed;
}

AgentCounters Agent::counters() const {
  AgentCounters counters = counters_;
  counters.stub_memory = memory_.size();
  return counters;
}

void Agent::look_at_objects() {
  const std::uint32_t changed =
      __atomic_load_n(&loader_changes().changed, __ATOMIC_ACQUIRE);  // pairs with the loader's hit
  const std::uint64_t state = loader_state();
  if (state != loader_state_ || changed != loader_changes().seen) {
    loader_state_ = state;
    objects_.read();
    carry_out();
  }
  loader_changes_seen(changed);
}

bool Agent::listen_to_loader() {
  if (loader_ != nullptr) return true;
  const r_debug* debug = loader_debug();
  if (debug == nullptr || debug->r_brk == 0) return false;
  auto place = std::make_unique<Place>();
  std::uint8_t bytes[kJumpSize];
  if (!read_memory(debug->r_brk, bytes, sizeof bytes) || !recipe_of_empty_function(bytes, place->recipe)) return false;
  place->number = kLoaderNumber;
  place->wants = kWantsLoader;
  place->offset = 0;
  place->limit = 0;
  objects_.read();
  const std::uint64_t address[] = {debug->r_brk};
  std::vector<Job> jobs;
  plan(*place, address, jobs);
  write(jobs);
  settle(jobs);
  if (place->patched.empty()) return false;
  loader_ = std::move(place);
  return true;
}

// Where a place is listened to, its counter says so: one more for each, as kernels do.
void Agent::count_places() {
  const auto is_right = [](const Place& place) {
    return std::all_of(place.patched.begin(), place.patched.end(), [&](const Patched& patched) {
      return patched.counter == (place.counter == 0 ? 0 : patched.address + static_cast<std::uint64_t>(place.counter));
    });
  };
  if (std::all_of(places_.begin(), places_.end(), [&](const auto& place) { return is_right(*place); })) return;
  objects_.read();
  with_loader_locked([&] {
    for (const auto& place : places_) {
      if (is_right(*place)) continue;
      stop_counting(*place);
      for (Patched& patched : place->patched) {
        const std::uint64_t counter = patched.address + static_cast<std::uint64_t>(place->counter);
        if (place->counter != 0 && raise_counter(objects_.maps(), counter)) patched.counter = counter;
      }
    }
  });
}

void Agent::stop_counting(Place& place) {
  for (Patched& patched : place.patched) lower_counter(std::exchange(patched.counter, 0));
}

// Of one that is given up for a moment.
void Agent::leave_counting(Patched& patched) {
  with_loader_locked([&] { lower_counter(std::exchange(patched.counter, 0)); });
}

void Agent::tend() {
  try_left_again();
  // Where threads could not be stopped in time, they can another time.
  if (std::any_of(places_.begin(), places_.end(), [](const auto& place) { return place->reason == Reason::kBusy; })) {
    objects_.read();
    carry_out();
  }
  forget_dead_threads(static_cast<std::uint32_t>(::getpid()));
  const auto at_limit = [](const auto& entry) {
    const Site& site = *entry.second->site;
    return site.limit != 0 && __atomic_load_n(&site.active, __ATOMIC_RELAXED) >= site.limit;
  };
  if (slots_in_use() > kPlenty) {
    free_abandoned_slots();
  } else if (std::any_of(known_.begin(), known_.end(), at_limit)) {
    uncount_abandoned_slots();
  }
  const std::uint64_t now = monotonic_ns();
  const std::size_t count = known_.size();
  std::erase_if(known_, [now](const auto& entry) {
    const Known& known = *entry.second;
    return known.gone_since != 0 && now - known.gone_since > kGrace && !is_awaited(known.site.get());
  });
  if (known_.size() == count) return;
  std::vector<std::uint64_t> used;
  for (const auto& [address, known] : known_) used.push_back(known->code);
  memory_.keep_only(used);
}

void Agent::after_fork() {
  own_slots_after_fork();
  memory_.leave_as_it_is();
}

}  // namespace landtrace::agent
