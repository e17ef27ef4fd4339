// How many of the owner's descriptors each user's programs take: a connection is one, a process whose memory is open
// for its enable words four.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace landtrace::domain {

// A guest may take half of what all others leave, and guests together leave some to the domain's user and root. So one
// guest alone leaves half of all to the others, and whoever comes next half of the rest.
class Descriptors {
 public:
  // With as many as the process can raise its limit to.
  explicit Descriptors(std::uint32_t owner_uid);
  Descriptors(std::uint32_t owner_uid, std::uint64_t limit) : owner_uid_(owner_uid), limit_(limit) {}

  // False: it would be more than the user may take.
  bool take(std::uint32_t uid, std::uint32_t count);
  void give_back(std::uint32_t uid, std::uint32_t count);
  [[nodiscard]] std::uint64_t taken_by(std::uint32_t uid) const;

 private:
  std::uint32_t owner_uid_;
  std::uint64_t limit_;
  std::uint64_t taken_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> by_uid_;
};

}  // namespace landtrace::domain
