#include "buffer/mapped_objects.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <string>

namespace landtrace::buffer {
namespace {

bool is_anothers(std::uint32_t pid, std::uint32_t uid) {
  struct stat st {};
  const std::string path = "/proc/" + std::to_string(pid);
  // /proc shows processes that cannot be dumped as root's.
  return ::stat(path.c_str(), &st) == 0 && st.st_uid != uid && st.st_uid != 0;
}

}  // namespace

bool may_open_files_of(std::uint32_t uid) { return uid == ::geteuid(); }

void MappedObjects::refresh(const plan::DataSegment& data, const Learnt& learnt) {
  const unwind::ObjectTable& table = data.objects;
  // Pairs with the count in write_entry(), unwind/object_table.cc: the entries that were complete by then are seen.
  const std::uint64_t changes = __atomic_load_n(&table.changes, __ATOMIC_ACQUIRE);
  if (changes == changes_seen_) return;
  changes_seen_ = changes;
  claims_.resize(unwind::kObjectEntries);
  for (std::uint32_t first = 0; first < unwind::kObjectEntries; first += 64) {
    std::uint64_t used = __atomic_load_n(&table.used[first / 64], __ATOMIC_RELAXED);
    for (; used != 0; used &= used - 1) {
      look_at(table, first + static_cast<std::uint32_t>(std::countr_zero(used)), learnt);
    }
  }
}

void MappedObjects::look_at(const unwind::ObjectTable& table, std::uint32_t index, const Learnt& learnt) {
  // Pairs with the release store in write_entry(). Before the copy, so that a change between the two is looked at
  // again.
  const std::uint64_t claim = __atomic_load_n(&table.entries[index].claim, __ATOMIC_ACQUIRE);
  if (claim == claims_[index]) return;
  auto object = unwind::copy_entry(table, index);
  if (!object) return;
  claims_[index] = claim;
  if (!is_anothers(object->pid, uid_)) learnt(*std::move(object));
}

}  // namespace landtrace::buffer
