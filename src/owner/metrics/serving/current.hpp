// What is served: the domain's metrics of this moment, or of a tenth of a second ago.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "metrics/families.hpp"
#include "metrics/serving/served.hpp"

namespace landtrace::metrics {

// Thread-safe. Who asks often costs the domain no more than who asks ten times a second.
class Current : public Served {
 public:
  // `counted`: patterns of the events that are counted by name.
  Current(std::string socket, std::vector<std::string> counted)
      : socket_(std::move(socket)), counted_(std::move(counted)) {}

  // EPIPE and the like where the owner is gone or says nothing.
  Result<std::vector<Family>> families() override;

 private:
  Result<void> refresh();

  const std::string socket_;
  const std::vector<std::string> counted_;
  std::mutex mutex_;
  std::optional<Asker> asker_;
  std::vector<Family> families_;
  std::optional<std::chrono::steady_clock::time_point> taken_;
};

}  // namespace landtrace::metrics
