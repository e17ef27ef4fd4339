// What nobody could send again, and found no room in an Outbox: last frames of orders that have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fleet/outbox.hpp"

namespace landtrace::fleet {

class HeldLetters {
 public:
  explicit HeldLetters(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // False: all of them would be more than that, and this one is not held.
  bool hold(const std::string& order, Outbox::Letter letter);
  // Each goes that `take` takes, which says so. True: of some order there is none any more.
  bool give(const std::function<bool(Outbox::Letter&)>& take);
  // How many there were of this order.
  std::uint64_t forget(const std::string& order);

  [[nodiscard]] bool contains(const std::string& order) const { return letters_.contains(order); }
  [[nodiscard]] bool is_empty() const { return letters_.empty(); }

 private:
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::map<std::string, std::vector<Outbox::Letter>> letters_;  // by order
};

}  // namespace landtrace::fleet
