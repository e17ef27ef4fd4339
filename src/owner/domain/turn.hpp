// How long one piece of work has the domain: what takes longer is left in the middle, others get their turn, and it is
// gone on with.
#pragma once

#include <chrono>

namespace landtrace::domain {

class Turn {
 public:
  static constexpr std::chrono::milliseconds kLength{3};

  explicit Turn(std::chrono::microseconds length = kLength) : end_(std::chrono::steady_clock::now() + length) {}

  [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace landtrace::domain
