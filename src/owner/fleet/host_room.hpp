// How much memory what hosts have sent takes where it is added up.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace landtrace::fleet {

// A host has the room of what it brought first. What is added to what was there takes none.
class HostRoom {
 public:
  explicit HostRoom(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Whether there is so much for it.
  [[nodiscard]] bool has(const std::string& host, std::size_t bytes) const {
    const auto known = taken_.find(host);
    return bytes <= most_bytes_ && (known == taken_.end() || known->second <= most_bytes_ - bytes);
  }
  void take(const std::string& host, std::size_t bytes) { taken_[host] += bytes; }

 private:
  std::size_t most_bytes_;
  std::map<std::string, std::size_t> taken_;
};

}  // namespace landtrace::fleet
