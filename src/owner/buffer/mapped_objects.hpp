// The objects on stacks, as the tables in data segments have them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/segments.hpp"

namespace landtrace::buffer {

// Of one user.
class MappedObjects {
 public:
  explicit MappedObjects(std::uint32_t uid) : uid_(uid) {}

  using Learnt = std::function<void(unwind::MappedObject object)>;  // first_seen is a raw time
  // Calls `learnt` for what has come since the last call. Cheap when nothing has. What a user's table says of a living
  // process of another user is passed over: nobody names others' frames.
  void refresh(const plan::DataSegment& data, const Learnt& learnt);

 private:
  void look_at(const unwind::ObjectTable& table, std::uint32_t index, const Learnt& learnt);

  std::uint32_t uid_;
  std::uint64_t changes_seen_ = 0;
  std::vector<std::uint64_t> claims_;  // of the entries that were seen
};

}  // namespace landtrace::buffer
