// Whoever serves a domain, in tests: writes down what it is told.
#pragma once

#include <atomic>
#include <vector>

#include "domain/domain.hpp"

namespace landtrace::domain {

class ToldServingThread : public ServingThread {
 public:
  explicit ToldServingThread(Domain& domain) : domain_(domain) { domain_.serve_by(this); }
  ~ToldServingThread() override { domain_.serve_by(nullptr); }
  void wake() override { ++wakes; }
  void watch_process(std::uint32_t pid) override { watched.push_back(pid); }

  std::atomic<int> wakes = 0;
  std::vector<std::uint32_t> watched;

 private:
  Domain& domain_;
};

}  // namespace landtrace::domain
