// Which object was mapped at an address of a process at a time.
#pragma once

#include <unordered_map>
#include <vector>

#include "unwind/object_table.hpp"

namespace landtrace::output {

using unwind::MappedObject;

class ObjectMap {
 public:
  // `first_seen` is in the clock of find(). An object that is known already is not added again.
  void add(MappedObject object);
  // nullptr: none is known. Of several the newest that was there by then. Valid until the next add().
  [[nodiscard]] const MappedObject* find(std::uint32_t pid, std::uint64_t address, std::uint64_t time) const;
  void clear() { by_pid_.clear(); }

 private:
  static constexpr std::size_t kMaxOfProcess = 16384;

  std::unordered_map<std::uint32_t, std::vector<MappedObject>> by_pid_;
};

}  // namespace landtrace::output
