// Where a program runs: what it can ask about the thread, and what it can do there but fill maps. Asked only when it
// wants it. Async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::bpf {

inline constexpr std::uint32_t kCommSize = 16;
inline constexpr std::uint32_t kMaxStackFrames = 127;

class Surroundings {
 public:
  virtual std::uint32_t cpu() = 0;
  virtual std::uint32_t tid() = 0;
  // Process in the upper half, thread in the lower; group and user.
  virtual std::uint64_t pid_tgid() = 0;
  virtual std::uint64_t uid_gid() = 0;
  // Stores kCommSize bytes, NULs behind the name.
  virtual void comm(char* name) = 0;
  // CLOCK_MONOTONIC.
  virtual std::uint64_t time_ns() = 0;
  // Stores at most `max` addresses, the nearest first; returns how many.
  virtual std::uint32_t capture_stack(std::uint64_t* frames, std::uint32_t max) = 0;
  // The program's memory, whatever the address: copies up to `size` bytes, and says how many there were.
  virtual std::size_t read_memory(std::uint64_t from, void* to, std::size_t size) = 0;
  // A text with its NUL, or without where it is longer than `size`. False where it is not there.
  virtual bool read_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length) = 0;
  // The instructions that are left to all programs at this event; nullptr: each has as many as there may be.
  virtual std::uint64_t* shared_budget() { return nullptr; }

 protected:
  ~Surroundings() = default;
};

}  // namespace landtrace::bpf
