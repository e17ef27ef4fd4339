// Threads that work on pieces of one text at the same time, and hand on what they made in the order of the pieces.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace landtrace::cli {

// Pieces are numbered from 0. Thread-safe.
class Turns {
 public:
  // Of so many threads, each has one piece at a time.
  explicit Turns(std::size_t threads) : waiting_(threads) {}

  // Waits until all pieces before this one have passed. False: it was stopped.
  bool wait_for(std::uint64_t number);
  // Whoever's turn it is has handed on its piece.
  void pass();
  // No turn comes any more.
  void stop();

 private:
  std::mutex mutex_;
  std::vector<std::condition_variable> waiting_;  // by number, modulo their count: no two that wait have the same
  std::uint64_t next_ = 0;
  bool is_stopped_ = false;
};

}  // namespace landtrace::cli
