#include "fleet/roster.hpp"

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::size_t kMostRefused = 64;

// What is counted anew, as an order that has gone takes its events with it, says nothing.
double rate_of(std::uint64_t before, std::uint64_t now, std::uint64_t span_ns) {
  if (now <= before || span_ns == 0) return 0;
  return static_cast<double>(now - before) * 1e9 / static_cast<double>(span_ns);
}

}  // namespace

const Roster::Member* Roster::take(const std::string& subject, const std::string& bytes) {
  auto status = status_in(subject, bytes);
  if (!status) {
    if (refused_.size() < kMostRefused) refused_.insert(subject);
    return nullptr;
  }
  const auto [at, is_new] = members_.try_emplace({status->host, status->domain});
  Member& member = at->second;
  if (is_new) member.number = members_.size();
  const Status& before = member.status;
  const bool is_newer =
      std::pair(status->started, status->sequence) > std::pair(before.started, before.sequence);
  if (!is_new && !is_newer) return nullptr;
  const bool goes_on = !is_new && status->started == before.started && status->time_ns > before.time_ns;
  // One that its host has sent at once, for what an order has changed, says nothing of a rate.
  const std::uint64_t span_ns = goes_on ? status->time_ns - before.time_ns : 0;
  constexpr std::uint64_t kLeastSpan_ns = 200'000'000;
  if (!goes_on || span_ns >= kLeastSpan_ns) {
    member.recorded_rate = rate_of(before.recorded, status->recorded, span_ns);
    member.lost_rate = rate_of(before.lost, status->lost, span_ns);
  }
  member.status = *std::move(status);
  return &member;
}

}  // namespace landtrace::fleet
