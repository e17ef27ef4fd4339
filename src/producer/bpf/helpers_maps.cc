#include <cerrno>

#include "bpf/helpers.hpp"
#include "bpf/maps/array.hpp"
#include "bpf/maps/hash.hpp"
#include "bpf/words.hpp"

namespace landtrace::bpf::helpers {
namespace {

// A map with values and the key that a program hands over with it.
struct Place {
  const MapLayout* map = nullptr;
  std::uint32_t index = 0;
  const std::byte* key = nullptr;
};

// False: the run has ended.
bool find_place(Execution& run, std::uint64_t handle, std::uint64_t key, Place& place) {
  place.map = run.map_of(handle, place.index);
  if (place.map != nullptr && place.map->has_values()) place.key = run.readable(key, place.map->key_size);
  if (place.key != nullptr)
    return run.spend(place.map->key_size / 16);  // keys that code looks up by itself cost nothing
  run.stop(End::kFault);
  return false;
}

std::uint32_t row_of(Execution& run, const MapLayout& map) { return map.is_per_cpu() ? run.row() : 0; }

std::uint32_t array_index(const std::byte* key) {
  std::uint32_t index;
  std::memcpy(&index, key, sizeof index);
  return index;
}

// An array's index may be part of memory that others write to: it is loaded once.
int update_array(Execution& run, const Place& place, const std::byte* value, std::uint64_t flags) {
  if (flags > BPF_EXIST) return -EINVAL;
  if (flags == BPF_NOEXIST) return -EEXIST;
  std::byte* const at = Array(run.data, *place.map).find(array_index(place.key), row_of(run, *place.map));
  if (at == nullptr) return -E2BIG;
  copy_in(at, value, place.map->value_size);
  return 0;
}

}  // namespace

std::uint64_t map_lookup(Execution& run, std::uint64_t map, std::uint64_t key, std::uint64_t, std::uint64_t,
                         std::uint64_t) {
  Place place;
  if (!find_place(run, map, key, place)) return 0;
  const std::uint32_t row = row_of(run, *place.map);
  const std::byte* const at = place.map->is_hash() ? Hash(run.data, *place.map, &run).find(place.key, row)
                                                   : Array(run.data, *place.map).find(array_index(place.key), row);
  return at == nullptr ? 0 : run.address_in(place.index, at);
}

std::uint64_t map_update(Execution& run, std::uint64_t map, std::uint64_t key, std::uint64_t value, std::uint64_t flags,
                         std::uint64_t) {
  Place place;
  if (!find_place(run, map, key, place)) return 0;
  const std::byte* const from = run.readable(value, place.map->value_size);
  if (from == nullptr || place.map->can_write == 0) return run.stop(End::kFault);
  // Of a new element all rows are filled.
  if (!run.spend(std::uint64_t{place.map->value_size} / 8 * place.map->rows)) return 0;
  if (!place.map->is_hash()) return answer(update_array(run, place, from, flags));
  return answer(Hash(run.data, *place.map, &run).update(place.key, from, row_of(run, *place.map), flags));
}

std::uint64_t map_delete(Execution& run, std::uint64_t map, std::uint64_t key, std::uint64_t, std::uint64_t,
                         std::uint64_t) {
  Place place;
  if (!find_place(run, map, key, place)) return 0;
  if (!place.map->is_hash()) return answer(-EINVAL);
  return answer(Hash(run.data, *place.map, &run).remove(place.key));
}

}  // namespace landtrace::bpf::helpers
