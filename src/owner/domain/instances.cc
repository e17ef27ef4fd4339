#include "domain/instances.hpp"

#include <algorithm>

namespace landtrace::domain {

Instance* Instances::at(std::uint32_t index) {
  return index < plan::kMaxInstances && instances_[index] ? &*instances_[index] : nullptr;
}

std::vector<Instance*> Instances::all() {
  std::vector<Instance*> all;
  for (auto& instance : instances_) {
    if (instance) all.push_back(&*instance);
  }
  return all;
}

Instance* Instances::find(std::string_view name) {
  for (Instance* const instance : all()) {
    if (instance->listed && instance->name == name) return instance;
  }
  return nullptr;
}

Result<RingPlace> Instances::make_place(ring::Geometry geometry, bool overwrite) {
  LT_TRY(const std::uint64_t rings, users_.allocate(geometry.stride() * rings_per_set()));
  const std::size_t words = std::size_t{plan::kMaxUsers} * rings_per_set();
  const auto consumed = control_.allocate(words * sizeof(std::uint64_t), 64);
  if (!consumed) {
    users_.free(rings, geometry.stride() * rings_per_set());
    return tl::unexpected<Error>(consumed.error());
  }
  auto* const positions = reinterpret_cast<std::uint64_t*>(control_.at(*consumed));
  std::fill_n(positions, words, overwrite ? ring::kNeverFull : 0);
  return RingPlace{geometry, overwrite, rings, *consumed};
}

void Instances::free_place(const RingPlace& place) {
  users_.free(place.rings, place.geometry.stride() * rings_per_set());
  control_.free(place.consumed);
}

void Instances::set_overwrite(Instance& instance, bool overwrite) {
  set_overwrite(instance.place, overwrite, [](std::uint32_t, std::uint32_t) { return 0; });
}

void Instances::set_overwrite(RingPlace& place, bool overwrite, const Consumed& consumed) {
  place.overwrite = overwrite;
  auto* position = reinterpret_cast<std::uint64_t*>(control_.at(place.consumed));
  for (std::uint32_t user = 0; user < plan::kMaxUsers; ++user) {
    for (std::uint32_t ring = 0; ring < rings_per_set(); ++ring) {
      // Pairs as in set_consumed().
      __atomic_store_n(position++, overwrite ? ring::kNeverFull : consumed(user, ring), __ATOMIC_RELEASE);
    }
  }
}

Result<Instance*> Instances::create(std::string name, ring::Geometry geometry, bool overwrite, bool listed) {
  for (const Instance* const other : all()) {
    if (other->listed == listed && other->name == name) return fail(EEXIST, "instance '" + name + "' exists");
  }
  std::uint32_t index = 0;
  while (index < plan::kMaxInstances && (instances_[index] || closing_[index])) ++index;
  if (index == plan::kMaxInstances && grace_.give_way()) {
    for (index = 0; index < plan::kMaxInstances && (instances_[index] || closing_[index]);) ++index;
  }
  if (index == plan::kMaxInstances) return fail(ENOSPC, "the domain has as many instances as it can");

  LT_TRY(const RingPlace place, make_place(geometry, overwrite));
  const auto stop_switch = cells_.take_switch(false);
  if (!stop_switch) {
    free_place(place);
    return tl::unexpected<Error>(stop_switch.error());
  }
  Instance& made = instances_[index].emplace();
  made.index = index;
  made.serial = next_serial_++;
  made.name = std::move(name);
  made.listed = listed;
  made.stop_switch = *stop_switch;
  made.place = place;
  return &made;
}

void Instances::destroy(std::uint32_t index) {
  if (at(index) == nullptr) return;
  const Instance gone = std::move(*instances_[index]);
  instances_[index].reset();
  closing_[index] = true;
  if (const std::uint32_t threads = gone.threads.published; threads != 0) {
    grace_.after_readers([this, threads] { control_.free(threads); });
  }
  // Of users who are not late, too: the range is kept, the memory in it is not.
  grace_.after_readers(
      [this, place = gone.place] { users_.clear(place.rings, place.geometry.stride() * rings_per_set()); },
      Holders::these({}));
  grace_.after_readers(
      [this, place = gone.place, cell = gone.stop_switch, index] {
        free_place(place);
        cells_.give_back(cell);
        closing_[index] = false;
      },
      Holders::of_own_memory());
}

void Instances::user_goes(std::uint32_t user) {
  for (Instance* const instance : all()) {
    if (instance->snapshots != nullptr) instance->snapshots->user_goes(user);
    for (std::uint32_t ring = 0; ring < rings_per_set(); ++ring) set_consumed(*instance, user, ring, 0);
  }
}

void Instances::set_consumed(const RingPlace& place, std::uint32_t user, std::uint32_t ring, std::uint64_t position) {
  if (place.overwrite || user >= plan::kMaxUsers || ring >= rings_per_set()) return;
  auto* const positions = reinterpret_cast<std::uint64_t*>(control_.at(place.consumed));
  // Pairs with the acquire load in write_exclusive() and the load in write_rseq(), arch/: what was read is not
  // overwritten before.
  __atomic_store_n(&positions[std::size_t{user} * rings_per_set() + ring], position, __ATOMIC_RELEASE);
}

std::uint64_t Instances::consumed(const RingPlace& place, std::uint32_t user, std::uint32_t ring) const {
  const auto* const positions = reinterpret_cast<const std::uint64_t*>(control_.at(place.consumed));
  return positions[std::size_t{user} * rings_per_set() + ring];
}

}  // namespace landtrace::domain
