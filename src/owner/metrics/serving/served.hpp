// What an HTTP server has to serve.
#pragma once

#include <vector>

#include "metrics/families.hpp"

namespace landtrace::metrics {

// Thread-safe.
class Served {
 public:
  Served() = default;
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  virtual ~Served() = default;

  // Of this moment, or of shortly before. An error says why there are none.
  virtual Result<std::vector<Family>> families() = 0;
};

}  // namespace landtrace::metrics
