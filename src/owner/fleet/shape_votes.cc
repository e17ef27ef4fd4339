#include "fleet/shape_votes.hpp"

#include <algorithm>

namespace landtrace::fleet {

void ShapeVotes::add(std::string_view host, const std::string& shape) {
  Votes& votes = votes_.try_emplace(shape, Votes{0, votes_.size(), {}}).first->second;
  if (votes.hosts > 0 && votes.last == host) return;
  ++votes.hosts;
  votes.last = host;
}

std::optional<std::string> ShapeVotes::most() const {
  const auto found = std::ranges::max_element(votes_, [](const auto& a, const auto& b) {
    return std::pair(a.second.hosts, b.second.place) < std::pair(b.second.hosts, a.second.place);
  });
  return found == votes_.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace landtrace::fleet
