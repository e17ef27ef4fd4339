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

Result<Instance*> Instances::create(std::string name, ring::Geometry geometry, bool overwrite) {
  for (const Instance* const other : all()) {
    if (other->name == name) return fail(EEXIST, "instance '" + name + "' exists");
  }
  std::uint32_t index = 0;
  while (index < plan::kMaxInstances && (instances_[index] || closing_[index])) ++index;
  if (index == plan::kMaxInstances) return fail(ENOSPC, "the domain has as many instances as it can");

  LT_TRY(const std::uint64_t rings, users_.allocate(geometry.stride() * rings_per_set()));
  const std::size_t words = std::size_t{plan::kMaxUsers} * rings_per_set();
  const auto consumed = control_.allocate(words * sizeof(std::uint64_t), 64);
  if (!consumed) {
    users_.free(rings, geometry.stride() * rings_per_set());
    return tl::unexpected<Error>(consumed.error());
  }
  auto* const positions = reinterpret_cast<std::uint64_t*>(control_.at(*consumed));
  std::fill_n(positions, words, overwrite ? ring::kNeverFull : 0);
  instances_[index] = Instance{index, std::move(name), geometry, overwrite, rings, *consumed, {}};
  return &*instances_[index];
}

void Instances::destroy(std::uint32_t index) {
  if (at(index) == nullptr) return;
  const Instance gone = std::move(*instances_[index]);
  instances_[index].reset();
  closing_[index] = true;
  grace_.after_readers(
      [this, rings = gone.rings, size = gone.geometry.stride() * rings_per_set(), consumed = gone.consumed, index] {
        users_.free(rings, size);
        control_.free(consumed);
        closing_[index] = false;
      });
}

void Instances::set_consumed(Instance& instance, std::uint32_t user, std::uint32_t ring, std::uint64_t position) {
  if (instance.overwrite || user >= plan::kMaxUsers || ring >= rings_per_set()) return;
  auto* const positions = reinterpret_cast<std::uint64_t*>(control_.at(instance.consumed));
  __atomic_store_n(&positions[std::size_t{user} * rings_per_set() + ring], position, __ATOMIC_RELEASE);
}

}  // namespace landtrace::domain
