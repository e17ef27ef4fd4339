// The objects on one user's stacks, read from the table in that user's data segment.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/segments.hpp"

namespace landtrace::buffer {

// Whether the owner opens the files that are named in this user's segment: its own user's alone. It may be root, and a
// file system of others' could keep it waiting for ever. Their addresses are shown by object, or as they are.
bool may_open_files_of(std::uint32_t uid);

class MappedObjects {
 public:
  explicit MappedObjects(std::uint32_t uid) : uid_(uid) {}

  using Learnt = std::function<void(unwind::MappedObject object)>;  // first_seen is a raw time
  // Calls `learnt` for each entry that is new since the last call; cheap when none is. An entry about a living
  // process of another user is ignored: a user must not be able to name the frames of others.
  void refresh(const plan::DataSegment& data, const Learnt& learnt);

 private:
  void look_at(const unwind::ObjectTable& table, std::uint32_t index, const Learnt& learnt);

  std::uint32_t uid_;
  std::uint64_t changes_seen_ = 0;
  std::vector<std::uint64_t> claims_;  // of the entries that were seen
};

}  // namespace landtrace::buffer
