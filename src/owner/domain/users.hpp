// The users of a domain: each has a data segment that only its own producers write.
#pragma once

#include <deque>

#include "base/mapping.hpp"
#include "base/offset_heap.hpp"
#include "plan/segments.hpp"

namespace landtrace::domain {

struct User {
  std::uint32_t uid;
  Fd fd;
  Mapping mapping;

  [[nodiscard]] plan::DataSegment& data() const { return *reinterpret_cast<plan::DataSegment*>(mapping.data()); }
};

class Users {
 public:
  explicit Users(std::uint64_t data_bytes) : data_bytes_(data_bytes), arena_(sizeof(plan::DataSegment), data_bytes) {}

  // The user's index; makes its data segment at the first call. ENOSPC beyond plan::kMaxUsers.
  Result<std::uint32_t> find_or_create(std::uint32_t uid);
  [[nodiscard]] const std::deque<User>& all() const { return users_; }
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }

  // A range at the same offset in every user's segment.
  Result<std::uint64_t> allocate(std::uint64_t size);
  // Gives its memory back to the system, so that the next use finds zeros.
  void free(std::uint64_t offset, std::uint64_t size);

 private:
  std::uint64_t data_bytes_;
  OffsetHeap arena_;
  std::deque<User> users_;
};

}  // namespace landtrace::domain
