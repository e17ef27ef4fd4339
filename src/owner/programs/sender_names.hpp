// The names of threads that have no place in the data plane, and whose events somebody else records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/segments.hpp"

namespace landtrace::programs {

class SenderNames {
 public:
  // What the thread is called; nullopt where that cannot be told.
  using Read = std::optional<std::string> (*)(std::uint32_t tid);
  explicit SenderNames(Read read = read_comm) : read_(read) {}

  // Leaves the thread's name in the segment, if it is not there yet. One that cannot be told (gone, in another pid namespace,
  // hidden) is not looked for again for a second: this is in the way of each of its events.
  void leave(plan::DataSegment& data, std::uint32_t tid);

 private:
  static std::optional<std::string> read_comm(std::uint32_t tid);
  struct Nameless {
    std::uint32_t tid = 0;
    std::uint64_t until_ns = 0;
  };
  static constexpr std::uint64_t kPause_ns = 1'000'000'000;

  Read read_;
  std::array<Nameless, 64> nameless_{};  // by tid; two that share a place take it from each other
};

}  // namespace landtrace::programs
