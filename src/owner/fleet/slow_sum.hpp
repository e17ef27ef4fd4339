// The slowest over hosts: of each group and power of two one, and of each host as many as a frame may have.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/frame.hpp"

namespace landtrace::fleet {

class SlowSum {
 public:
  // `group` stands before the keys, as in a TableSum.
  void add(const Frame& frame, const std::vector<std::string>& group);

  // The slowest first.
  [[nodiscard]] std::vector<Slow> slowest() const;

 private:
  std::map<std::string, std::vector<Slow>> hosts_;
};

// Of those that have the same group and power of two the slowest one; the slowest first.
std::vector<Slow> slowest_of(std::vector<Slow> all);

}  // namespace landtrace::fleet
