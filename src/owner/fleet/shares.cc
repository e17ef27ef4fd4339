#include "fleet/shares.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace landtrace::fleet {
namespace {

std::vector<std::uint32_t> shares_of(const std::vector<std::uint64_t>& wants, std::uint64_t all) {
  std::vector<std::size_t> order(wants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wants[i]; });
  std::vector<std::uint32_t> shares(wants.size());
  std::size_t left = wants.size();
  for (const std::size_t i : order) {
    shares[i] = static_cast<std::uint32_t>(std::min(wants[i], all / left--));
    all -= shares[i];
  }
  return shares;
}

}  // namespace

std::vector<std::uint32_t> fair_shares(const std::vector<Want>& wants, std::uint32_t all) {
  std::map<std::string, std::vector<std::size_t>> owners;
  for (std::size_t i = 0; i < wants.size(); ++i) owners[wants[i].owner].push_back(i);
  std::vector<std::uint64_t> of_owners;
  for (const auto& [owner, own] : owners) {
    of_owners.push_back(std::accumulate(own.begin(), own.end(), std::uint64_t{0},
                                        [&](std::uint64_t sum, std::size_t i) { return sum + wants[i].count; }));
  }
  const std::vector<std::uint32_t> each = shares_of(of_owners, all);
  std::vector<std::uint32_t> shares(wants.size());
  std::size_t number = 0;
  for (const auto& [owner, own] : owners) {
    std::vector<std::uint64_t> counts;
    for (const std::size_t i : own) counts.push_back(wants[i].count);
    const std::vector<std::uint32_t> of_own = shares_of(counts, each[number++]);
    for (std::size_t i = 0; i < own.size(); ++i) shares[own[i]] = of_own[i];
  }
  return shares;
}

}  // namespace landtrace::fleet
