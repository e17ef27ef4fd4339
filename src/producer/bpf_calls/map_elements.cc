#include "bpf_calls/map_elements.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include "bpf/maps/array.hpp"
#include "bpf/maps/hash.hpp"
#include "bpf/maps/stacks.hpp"
#include "bpf/words.hpp"
#include "bpf_calls/perf_buffers.hpp"
#include "bpf_calls/user_bytes.hpp"

namespace landtrace::bpf_calls {
namespace {

using bpf::MapLayout;

bool read_key(const MapLayout& map, std::uint64_t from, std::vector<std::byte>& key) {
  key.resize(bpf::rounded(map.key_size, 8));
  return copy_from_user(key.data(), from, map.key_size);
}

std::uint32_t index_in(const std::vector<std::byte>& key) {
  std::uint32_t index;
  std::memcpy(&index, key.data(), sizeof index);
  return index;
}

std::byte* find(const Object& map, const std::vector<std::byte>& key, std::uint32_t row) {
  if (map.layout.is_hash()) return bpf::Hash(map.data, map.layout).find(key.data(), row);
  return bpf::Array(map.data, map.layout).find(index_in(key), row);
}

long lookup_value(const Object& map, const std::vector<std::byte>& key, std::vector<std::byte>& value) {
  const MapLayout& layout = map.layout;
  const std::uint64_t row_bytes = layout.is_per_cpu() ? bpf::rounded(layout.value_size, 8) : layout.value_size;
  for (std::uint32_t row = 0; row < layout.rows; ++row) {
    const std::byte* const at = find(map, key, row);
    if (at == nullptr) return -ENOENT;
    bpf::copy_out(value.data() + row * row_bytes, at, layout.value_size);
  }
  return 0;
}

long update_array(const Object& map, const std::vector<std::byte>& key, const std::vector<std::byte>& value,
                  std::uint64_t flags) {
  if (flags == BPF_NOEXIST) return -EEXIST;
  if (flags > BPF_EXIST) return -EINVAL;
  const MapLayout& layout = map.layout;
  for (std::uint32_t row = 0; row < layout.rows; ++row) {
    std::byte* const at = find(map, key, row);
    if (at == nullptr) return -E2BIG;
    bpf::copy_in(at, value.data() + row * bpf::rounded(layout.value_size, 8), layout.value_size);
  }
  return 0;
}

long next_index(const MapLayout& map, const std::vector<std::byte>* key, std::uint32_t& next) {
  next = key == nullptr ? 0 : index_in(*key) + 1;
  if (key != nullptr && index_in(*key) >= map.max_entries) next = 0;
  return next < map.max_entries ? 0 : -ENOENT;
}

long next_stack(const Object& map, const std::vector<std::byte>* key, std::uint32_t& next) {
  std::vector<std::uint64_t> frames(map.layout.value_size / 8);
  next = key == nullptr ? 0 : index_in(*key) + 1;
  for (; next < map.layout.buckets; ++next) {
    if (bpf::Stacks(map.data, map.layout).find(next, frames.data()) == 0) return 0;
  }
  return -ENOENT;
}

// A slot's number, and a descriptor of a perf event.
long put_perf_event(const bpf_attr& call) {
  const ObjectRef map = Objects::get().find(static_cast<int>(call.map_fd), Kind::kMap);
  if (map == nullptr) return -EBADF;

  std::uint32_t slot = 0;
  std::int32_t fd = -1;
  if (!copy_from_user(&slot, call.key, sizeof slot) || !copy_from_user(&fd, call.value, sizeof fd)) return -EFAULT;
  return connect_perf_buffer(map, slot, fd);
}

}  // namespace

std::uint64_t value_bytes(const MapLayout& map) {
  return map.is_per_cpu() ? map.rows * bpf::rounded(map.value_size, 8) : map.value_size;
}

long lookup_element(const Object& map, const bpf_attr& call) {
  if (!map.may_be_read()) return -EPERM;
  const MapLayout& layout = map.layout;
  if (!layout.has_values() && layout.kind != bpf::kStackTrace) return -EOPNOTSUPP;
  std::vector<std::byte> key;
  if (!read_key(layout, call.key, key)) return -EFAULT;
  std::vector<std::byte> value(bpf::rounded(value_bytes(layout), 8));
  const long found =
      layout.kind == bpf::kStackTrace
          ? bpf::Stacks(map.data, layout).find(index_in(key), reinterpret_cast<std::uint64_t*>(value.data()))
          : lookup_value(map, key, value);
  if (found != 0) return found;
  return copy_to_user(call.value, value.data(), value_bytes(layout)) ? 0 : -EFAULT;
}

long update_element(const Object& map, const bpf_attr& call) {
  if (!map.may_be_changed()) return -EPERM;
  const MapLayout& layout = map.layout;
  if (layout.kind == bpf::kPerfEventArray) return put_perf_event(call);
  if (!layout.has_values()) return -EINVAL;
  std::vector<std::byte> key;
  std::vector<std::byte> value(bpf::rounded(value_bytes(layout), 8));
  if (!read_key(layout, call.key, key) || !copy_from_user(value.data(), call.value, value_bytes(layout)))
    return -EFAULT;
  if (!layout.is_hash()) return update_array(map, key, value, call.flags);
  return bpf::Hash(map.data, layout).update_rows(key.data(), value.data(), call.flags);
}

long delete_element(const Object& map, const bpf_attr& call) {
  if (!map.may_be_changed()) return -EPERM;
  const MapLayout& layout = map.layout;
  std::vector<std::byte> key;
  if (!layout.is_hash() && layout.kind != bpf::kStackTrace) return -EINVAL;
  if (!read_key(layout, call.key, key)) return -EFAULT;
  if (layout.kind == bpf::kStackTrace) return bpf::Stacks(map.data, layout).remove(index_in(key));
  return bpf::Hash(map.data, layout).remove(key.data());
}

long freeze(const Object& map, const bpf_attr& call) {
  if (call.key != 0 || call.value != 0 || call.flags != 0) return -EINVAL;
  if (!map.may_be_changed()) return -EPERM;
  __atomic_store_n(&map.is_frozen, true, __ATOMIC_RELAXED);
  return 0;
}

long next_key(const Object& map, const bpf_attr& call) {
  if (!map.may_be_read()) return -EPERM;
  const MapLayout& layout = map.layout;
  if (!layout.has_values() && layout.kind != bpf::kStackTrace) return -EOPNOTSUPP;
  std::vector<std::byte> key;
  if (call.key != 0 && !read_key(layout, call.key, key)) return -EFAULT;
  const std::vector<std::byte>* const from = call.key == 0 ? nullptr : &key;
  if (!layout.is_hash()) {
    std::uint32_t next = 0;
    const long found = layout.is_array() ? next_index(layout, from, next) : next_stack(map, from, next);
    if (found != 0) return found;
    return copy_to_user(call.next_key, &next, sizeof next) ? 0 : -EFAULT;
  }
  std::vector<std::byte> next(bpf::rounded(layout.key_size, 8));
  if (bpf::Hash(map.data, layout).next(from == nullptr ? nullptr : key.data(), next.data()) != 0) return -ENOENT;
  return copy_to_user(call.next_key, next.data(), layout.key_size) ? 0 : -EFAULT;
}

}  // namespace landtrace::bpf_calls
