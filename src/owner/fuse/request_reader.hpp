// Takes one request after another from the kernel. While they come in quick succession it looks for the next one
// instead of sleeping: a program that writes events waits for each answer, and waking a thread on another CPU costs
// more than all of the work. Between two looks it offers its CPU to others (sched_yield). A tree that is used now and
// then costs the wakeups alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "base/result.hpp"

namespace landtrace::fuse {

class RequestReader {
 public:
  // Takes from `fd`, an open /dev/fuse that prepare() has prepared, until `stop` is readable.
  RequestReader(int fd, int stop) : fd_(fd), stop_(stop) {}

  static Result<void> prepare(int fd);

  // Waits for the next request and returns its size. -1 with errno: it could not be read; ECANCELED: `stop` is
  // readable.
  ssize_t next(std::span<std::byte> buffer);

 private:
  static constexpr std::chrono::microseconds kPolling{200};

  int fd_;
  int stop_;
  bool come_in_a_row_ = false;
};

}  // namespace landtrace::fuse
