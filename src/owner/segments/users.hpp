// The users of a domain: each has a data segment that only its own producers write.
#pragma once

#include <deque>

#include "base/mapping.hpp"
#include "base/offset_heap.hpp"
#include "plan/segments.hpp"
#include "segments/room_maker.hpp"

namespace landtrace::segments {

struct User {
  std::uint32_t uid;
  std::uint64_t serial;  // no other user of the domain has or had this one
  Fd fd;
  Mapping mapping;

  [[nodiscard]] plan::DataSegment& data() const { return *reinterpret_cast<plan::DataSegment*>(mapping.data()); }
  // Of who has the index now. Any thread may ask. Pairs with the release store in Users::replace().
  [[nodiscard]] std::uint64_t serial_now() const { return __atomic_load_n(&serial, __ATOMIC_ACQUIRE); }
  // Of its segment, as far as somebody has written to it.
  [[nodiscard]] std::uint64_t memory() const;
};

class Users {
 public:
  explicit Users(std::uint64_t data_bytes) : data_bytes_(data_bytes), arena_(sizeof(plan::DataSegment), data_bytes) {}

  // The user's index; makes its data segment at the first call. ENOSPC where there are plan::kMaxUsers.
  Result<std::uint32_t> find_or_create(std::uint32_t uid);
  // Somebody else has the index from here on, in a new segment that lies where the old one did. Nobody else can reach
  // that one but by descriptors and mappings from before.
  Result<void> replace(std::uint32_t index, std::uint32_t uid);
  [[nodiscard]] const std::deque<User>& all() const { return users_; }
  // Every segment has something that is added up over all users, who are kept for that.
  void keep_all() { ++keepers_; }
  void keep_no_more() { --keepers_; }
  [[nodiscard]] bool are_kept() const { return keepers_ > 0; }
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }

  // Makes room, if it can, where there is none.
  void set_room_maker(RoomMaker* maker) { room_maker_ = maker; }
  // What is left of it, perhaps in pieces.
  [[nodiscard]] std::uint64_t free_bytes() const { return data_bytes_ - most_memory(); }
  // A range at the same offset in every user's segment.
  Result<std::uint64_t> allocate(std::uint64_t size);
  // Gives the range's memory back to the system: all of it is zero.
  void clear(std::uint64_t offset, std::uint64_t size) const;
  // The same for good, so that the next use finds zeros.
  void free(std::uint64_t offset, std::uint64_t size);

  // What a user may have of memory, but for what has just been written to ranges that are nobody's.
  [[nodiscard]] std::uint64_t most_memory() const { return sizeof(plan::DataSegment) + arena_.bytes_in_use(); }
  // Gives back what is in such ranges.
  void trim(const User& user) const;

 private:
  std::uint64_t data_bytes_;
  OffsetHeap arena_;
  std::deque<User> users_;
  RoomMaker* room_maker_ = nullptr;
  std::uint64_t next_serial_ = 1;
  unsigned keepers_ = 0;
};

}  // namespace landtrace::segments
