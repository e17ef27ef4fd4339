#include "fleet/shape_votes.hpp"

#include <algorithm>
#include <tuple>

namespace landtrace::fleet {

void ShapeVotes::add(std::string_view host, const std::string& shape, std::uint64_t came) {
  Votes& votes = votes_.try_emplace(shape, Votes{0, came, {}}).first->second;
  votes.came = std::min(votes.came, came);
  if (votes.hosts > 0 && votes.last == host) return;
  ++votes.hosts;
  votes.last = host;
}

std::optional<std::string> ShapeVotes::most() const {
  const auto found = std::ranges::max_element(votes_, [](const auto& a, const auto& b) {
    return std::tie(a.second.hosts, b.second.came, b.first) < std::tie(b.second.hosts, a.second.came, a.first);
  });
  return found == votes_.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace landtrace::fleet
