// What was counted for one order, as the page is told it.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "fleet/spreads.hpp"
#include "fleet/sums.hpp"

namespace landtrace::ui {

class FleetCounts {
 public:
  void take(const std::string& subject, const std::string& bytes);
  // By these names, with commas between them: a JSON object. It may be some tenths of a second old where adding up
  // takes long: no more than a tenth of the time goes into that.
  const std::string& json(const std::string& order, const std::string& by);

 private:
  struct Made {
    std::uint64_t version = 0;
    std::chrono::steady_clock::time_point next{};  // before that it is not made again
    std::string json;
  };

  fleet::Sums sums_;
  std::uint64_t version_ = 1;
  std::map<std::string, Made> made_;  // by `by`
};

// The groups of the page: more than these are counted, and the highest of them said.
inline constexpr std::size_t kMostGroups = 250;
std::string json_of(const std::string& order, const std::vector<fleet::Spreads>& all);

}  // namespace landtrace::ui
