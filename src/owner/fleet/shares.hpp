// How something is shared among many that want different parts of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace landtrace::fleet {

struct Want {
  std::string owner;
  std::uint32_t count = 0;
};
// What each gets, all of them `all` at most: owners first, so that nobody gets more by wanting many times. Who wants
// less than a fair share has what he wants, and what he leaves is shared among the others.
std::vector<std::uint32_t> fair_shares(const std::vector<Want>& wants, std::uint32_t all);

}  // namespace landtrace::fleet
