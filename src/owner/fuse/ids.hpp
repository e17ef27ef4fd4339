// Converts user and group ids in requests (those of the mounter's user namespace) to the owner's.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace landtrace::fuse {

struct IdRange {
  std::uint32_t inside = 0;   // the first, as requests have it
  std::uint32_t outside = 0;  // the same one, as the owner has it
  std::uint32_t count = 0;
};

class Ids {
 public:
  explicit Ids(std::vector<IdRange> ranges) : ranges_(std::move(ranges)) {}

  // An id that the owner does not know is nobody's.
  static constexpr std::uint32_t kNobody = 65534;
  [[nodiscard]] std::uint32_t to_owner(std::uint32_t id) const {
    if (ranges_.empty()) return id;
    for (const IdRange& range : ranges_) {
      if (id >= range.inside && id - range.inside < range.count) return range.outside + (id - range.inside);
    }
    return kNobody;
  }

 private:
  std::vector<IdRange> ranges_;
};

}  // namespace landtrace::fuse
