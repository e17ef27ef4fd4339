#include "abi/entry.hpp"

#include <algorithm>

namespace landtrace::abi {

std::size_t Payload::copy(std::uint64_t offset, void* to, std::size_t size) const {
  std::size_t done = 0;
  for (std::size_t i = 0; i < count_ && done < size; ++i) {
    const arch::Segment& segment = segments_[i];
    if (offset >= segment.size) {
      offset -= segment.size;
      continue;
    }
    const std::size_t here = std::min<std::size_t>(size - done, segment.size - offset);
    std::memcpy(static_cast<std::byte*>(to) + done, static_cast<const std::byte*>(segment.data) + offset, here);
    done += here;
    offset = 0;
  }
  return done;
}

}  // namespace landtrace::abi
