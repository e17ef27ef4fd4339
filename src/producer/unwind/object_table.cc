#include "unwind/object_table.hpp"

#include <csignal>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace landtrace::unwind {
namespace {

constexpr std::uint32_t kProbes = 64;
constexpr std::uint32_t kKnown = 256;

// What this process has noted or found no room for, by key; 0 is nothing. Single words, which order nothing. A child
// has another pid, and so other keys.
constinit std::uint64_t known[kKnown] = {};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

std::uint64_t key_of(const ObjectTable& table, std::uint32_t pid, const Object& object) {
  std::uint64_t id = 0;
  std::memcpy(&id, object.build_id, sizeof id);
  std::uint64_t key = mix(reinterpret_cast<std::uint64_t>(&table), pid);
  for (const std::uint64_t part : {object.start, object.end, id, reinterpret_cast<std::uint64_t>(object.name)}) {
    key = mix(key, part);
  }
  return key | 1;
}

bool is_of(const ObjectEntry& entry, std::uint32_t pid, const Object& object, const char* path, std::size_t size) {
  return entry.pid == pid && entry.start == object.start && entry.end == object.end &&
         entry.build_id_size == object.build_id_size && entry.path_size == size &&
         std::memcmp(entry.build_id, object.build_id, object.build_id_size) == 0 &&
         std::memcmp(entry.path, path, size) == 0;
}

bool is_complete(std::uint64_t claim) { return claim != 0 && (claim & 1) == 0; }

bool is_gone(std::uint64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

// A free one, else the oldest one whose process, or whose writer, is gone. What it looks at may change meanwhile: the
// swap in write_entry() settles who gets the entry.
ObjectEntry* find_room(ObjectTable& table, std::uint32_t first) {
  ObjectEntry* oldest = nullptr;
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    ObjectEntry& entry = table.entries[(first + i) % kObjectEntries];
    // Pairs with the release store in write_entry(): pid and first_seen are those of the claim, unless it has changed.
    const std::uint64_t claim = __atomic_load_n(&entry.claim, __ATOMIC_ACQUIRE);
    if (claim == 0) return &entry;
    if (!is_gone(is_complete(claim) ? entry.pid : claim >> 32)) continue;
    if (oldest == nullptr || entry.first_seen < oldest->first_seen) oldest = &entry;
  }
  return oldest;
}

void write_entry(ObjectTable& table, ObjectEntry& entry, std::uint32_t pid, const Object& object, const char* path,
                 std::size_t size, std::uint64_t now) {
  std::uint64_t claim = __atomic_load_n(&entry.claim, __ATOMIC_RELAXED);
  const std::uint64_t own = std::uint64_t{pid} << 32;
  const std::uint64_t busy = own | ((static_cast<std::uint32_t>(claim) + 1) | 1);
  // Pairs with the release store below, in whoever wrote the entry before. The odd claim is ordered before the contents
  // by the fence, which pairs with the acquire fence in copy_entry().
  if (!__atomic_compare_exchange_n(&entry.claim, &claim, busy, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  std::atomic_thread_fence(std::memory_order_release);
  entry.pid = pid;
  entry.start = object.start;
  entry.end = object.end;
  entry.bias = object.bias;
  entry.first_seen = now;
  entry.build_id_size = static_cast<std::uint8_t>(object.build_id_size);
  std::memcpy(entry.build_id, object.build_id, sizeof entry.build_id);
  entry.path_size = static_cast<std::uint16_t>(size);
  std::memcpy(entry.path, path, size);
  const auto index = static_cast<std::uint32_t>(&entry - table.entries);
  __atomic_fetch_or(&table.used[index / 64], 1ull << (index % 64), __ATOMIC_RELAXED);
  // A number of 0 would say that the entry is free. Pairs with the acquire loads of the claim, here and in the owner's
  // MappedObjects::look_at().
  const std::uint32_t number = static_cast<std::uint32_t>(busy) + 1;
  __atomic_store_n(&entry.claim, own | (number == 0 ? 2 : number), __ATOMIC_RELEASE);
  // Pairs with the acquire load in the owner's MappedObjects::refresh(): the entry is complete.
  __atomic_fetch_add(&table.changes, 1, __ATOMIC_RELEASE);
}

struct Path {
  char text[kObjectPath];
  std::size_t size = 0;

  void append(const char* from, std::size_t count) {
    count = std::min(count, sizeof text - size);
    std::memcpy(text + size, from, count);
    size += count;
  }
};

// The loader has no name for the program itself; its name for what was loaded by a path from the current folder means
// nothing elsewhere.
void find_path(const Object& object, Path& path) {
  const char* const name = object.name;
  if (name[0] == '\0') {
    const ssize_t size = ::readlink("/proc/self/exe", path.text, sizeof path.text);
    path.size = size > 0 ? static_cast<std::size_t>(size) : 0;
    return;
  }
  const std::size_t size = ::strnlen(name, kObjectPath);
  if (std::memchr(name, '/', size) == nullptr) {
    const bool is_vdso = size > 10 && std::memcmp(name, "linux-vdso", 10) == 0;
    path.append("[", 1);
    path.append(is_vdso ? "vdso" : name, is_vdso ? 4 : size);
    path.append("]", 1);
    return;
  }
  if (name[0] != '/' && ::getcwd(path.text, sizeof path.text) != nullptr) {
    path.size = ::strnlen(path.text, sizeof path.text);
    path.append("/", 1);
  }
  path.append(name, size);
}

void enter(ObjectTable& table, std::uint32_t pid, const Object& object, const char* path, std::size_t size,
           std::uint64_t now) {
  const auto first = static_cast<std::uint32_t>(mix(mix(0, pid), object.start));
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    const ObjectEntry& entry = table.entries[(first + i) % kObjectEntries];
    // Pairs with the release store in write_entry(). Not checked again: an entry that is replaced meanwhile is at worst
    // taken for this one, and the object has none.
    const std::uint64_t claim = __atomic_load_n(&entry.claim, __ATOMIC_ACQUIRE);
    if (claim == 0) break;
    if (is_complete(claim) && is_of(entry, pid, object, path, size)) return;
  }
  if (ObjectEntry* const room = find_room(table, first); room != nullptr) {
    write_entry(table, *room, pid, object, path, size, now);
  }
}

}  // namespace

void note_object(ObjectTable& table, std::uint32_t pid, const Object& object, std::uint64_t now) {
  const std::uint64_t key = key_of(table, pid, object);
  std::uint64_t& place = known[(key >> 8) % kKnown];
  if (__atomic_load_n(&place, __ATOMIC_RELAXED) == key) return;
  note_fleeting_object(table, pid, object, now);
  __atomic_store_n(&place, key, __ATOMIC_RELAXED);
}

void note_fleeting_object(ObjectTable& table, std::uint32_t pid, const Object& object, std::uint64_t now) {
  const int saved_errno = errno;
  Path path;
  find_path(object, path);
  enter(table, pid, object, path.text, path.size, now);
  errno = saved_errno;
}

void note_object_at(ObjectTable& table, std::uint32_t pid, const Object& object, const char* path, std::uint64_t now) {
  enter(table, pid, object, path, std::min(std::strlen(path), kObjectPath), now);
}

std::optional<MappedObject> copy_entry(const ObjectTable& table, std::uint32_t index) {
  const ObjectEntry& shared = table.entries[index % kObjectEntries];
  // Pairs with the release store in write_entry(); the fence behind the copy, with the release fence there.
  const std::uint64_t claim = __atomic_load_n(&shared.claim, __ATOMIC_ACQUIRE);
  if (!is_complete(claim)) return std::nullopt;
  ObjectEntry entry;
  std::memcpy(&entry, &shared, sizeof entry);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (__atomic_load_n(&shared.claim, __ATOMIC_RELAXED) != claim) return std::nullopt;
  if (entry.start >= entry.end || entry.path_size > kObjectPath || entry.build_id_size > kMaxBuildId) {
    return std::nullopt;
  }
  const std::string path(entry.path, entry.path_size);
  return MappedObject{entry.pid,
                      entry.start,
                      entry.end,
                      entry.bias,
                      entry.first_seen,
                      path.substr(0, path.find('\0')),
                      {reinterpret_cast<const char*>(entry.build_id), entry.build_id_size}};
}

}  // namespace landtrace::unwind
