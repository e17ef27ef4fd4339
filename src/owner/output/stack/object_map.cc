#include "output/stack/object_map.hpp"

#include <algorithm>

namespace landtrace::output {

void ObjectMap::add(MappedObject object) {
  auto& objects = by_pid_[object.pid];
  const auto is_same = [&](const MappedObject& known) {
    return known.start == object.start && known.end == object.end && known.first_seen == object.first_seen &&
           known.build_id == object.build_id && known.path == object.path;
  };
  if (objects.size() >= kMaxOfProcess || std::any_of(objects.begin(), objects.end(), is_same)) return;
  objects.push_back(std::move(object));
}

const MappedObject* ObjectMap::find(std::uint32_t pid, std::uint64_t address, std::uint64_t time) const {
  const auto objects = by_pid_.find(pid);
  if (objects == by_pid_.end()) return nullptr;
  const MappedObject* newest = nullptr;
  // Times are converted, and the error may be larger than the time between the table's entry and its first stack.
  const MappedObject* next = nullptr;
  for (const MappedObject& object : objects->second) {
    if (address < object.start || address >= object.end) continue;
    if (object.first_seen <= time) {
      if (newest == nullptr || object.first_seen > newest->first_seen) newest = &object;
    } else if (next == nullptr || object.first_seen < next->first_seen) {
      next = &object;
    }
  }
  return newest != nullptr ? newest : next;
}

}  // namespace landtrace::output
