// How much time hosts take of a reader that all of them share.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace landtrace::fleet {

// A host has a quarter of the time, and what it did not take of the last seconds. One that has taken more waits until
// that is made up for.
class HostTime {
 public:
  static constexpr std::uint64_t kShare = 4;
  static constexpr std::uint64_t kMostSaved_ns = 5'000'000'000;

  // Times are monotonic.
  [[nodiscard]] bool has_some(const std::string& host, std::uint64_t now_ns) const;
  void take(const std::string& host, std::uint64_t took_ns, std::uint64_t now_ns);

 private:
  void forget_paid(std::uint64_t now_ns);

  // By host, when it will have saved up all that it can. Of others nothing is kept: they have.
  std::map<std::string, std::uint64_t> whole_again_ns_;
  std::uint64_t next_forgetting_ns_ = 0;
};

}  // namespace landtrace::fleet
