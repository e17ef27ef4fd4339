// The names of threads that have no place of their own in the data plane: the owner records their events for them, and
// must find out what they are called for whoever reads the events.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/segments.hpp"

namespace landtrace::programs {

class SenderNames {
 public:
  // Returns what the thread is called, or nullopt if that cannot be found out.
  using Read = std::optional<std::string> (*)(std::uint32_t tid);
  explicit SenderNames(Read read = read_comm) : read_(read) {}

  // Puts the thread's name into the segment, unless it is there already. Where the name cannot be found out (the thread
  // has ended, is in another pid namespace, is hidden) it is not looked for again for a second: this is called for each
  // event of the thread.
  void leave(plan::DataSegment& data, std::uint32_t tid);

 private:
  static std::optional<std::string> read_comm(std::uint32_t tid);
  struct Nameless {
    std::uint32_t tid = 0;
    std::uint64_t until_ns = 0;  // it is not looked for before
  };
  static constexpr std::uint64_t kPause_ns = 1'000'000'000;

  Read read_;
  // By the number of the thread. Two threads that have the same place drive each other out; then each is looked for
  // more often.
  std::array<Nameless, 64> nameless_{};
};

}  // namespace landtrace::programs
