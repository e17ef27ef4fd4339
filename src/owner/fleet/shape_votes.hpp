// Which keys and values the sum of an event has, where hosts send several: those of most hosts. One host alone decides
// nothing for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace landtrace::fleet {

class ShapeVotes {
 public:
  // Host by host: what one has several times counts once. `shape`: equal bytes are equal keys and values. `came`: when,
  // as a time or a number.
  void add(std::string_view host, const std::string& shape, std::uint64_t came);
  // Of several with as many hosts the one that came first; nullopt: none has come.
  [[nodiscard]] std::optional<std::string> most() const;

 private:
  struct Votes {
    std::size_t hosts = 0;
    std::uint64_t came = 0;  // the first of them
    std::string last;  // host
  };
  std::unordered_map<std::string, Votes> votes_;  // by shape
};

}  // namespace landtrace::fleet
