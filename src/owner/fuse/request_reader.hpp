// Takes one request after another from the kernel. While they come in quick succession it looks for the next one instead
// of sleeping: a program that writes events waits for each, and to wake a thread that sleeps on another CPU costs more
// than all of the work. Whoever else can use the CPU gets it in between; and a tree that is used now and then, or not at
// all, costs nothing but the wakeups.
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

  // Waits for the next request and returns its size; -1 with errno where there is none to take, ECANCELED when it is to stop.
  ssize_t next(std::span<std::byte> buffer);

 private:
  static constexpr std::chrono::microseconds kPolling{200};

  int fd_;
  int stop_;
  bool come_in_a_row_ = false;
};

}  // namespace landtrace::fuse
