#include "fleet/roster.hpp"

#include <algorithm>

#include "arch/clock.hpp"
#include "fleet/order.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::size_t kMostRefused = 64;
constexpr std::uint64_t kForgetEvery_ns = 60'000'000'000;

// What is counted anew, as an order that has gone takes its events with it, says nothing.
double rate_of(std::uint64_t before, std::uint64_t now, std::uint64_t span_ns) {
  if (now <= before || span_ns == 0) return 0;
  return static_cast<double>(now - before) * 1e9 / static_cast<double>(span_ns);
}

}  // namespace

bool is_newer(const Status& status, const Status& known) {
  return status.started != known.started || status.sequence > known.sequence;
}

Moment Moment::now() { return {fleet::wall_ns(), arch::monotonic_ns()}; }

std::uint64_t Roster::Member::age_ns(std::uint64_t monotonic_ns) const {
  const auto age = static_cast<std::int64_t>(monotonic_ns) - heard_ns;
  return age > 0 ? static_cast<std::uint64_t>(age) : 0;
}

bool Roster::Member::is_away(std::uint64_t monotonic_ns) const { return age_ns(monotonic_ns) > status.patience_ns(); }

const Roster::Member* Roster::take(const std::string& subject, const std::string& bytes, Moment now) {
  auto status = status_in(subject, bytes);
  if (!status) {
    if (refused_.size() < kMostRefused) refused_.insert(subject);
    return nullptr;
  }
  const auto [at, is_new] = members_.try_emplace({status->host, status->domain});
  Member& member = at->second;
  if (is_new) member.number = next_number_++;
  const bool may_have_waited = std::exchange(member.beginning, beginning_) != beginning_ || is_new;
  const Status& before = member.status;
  const bool is_of_older_agent = status->started < before.started && !member.is_away(now.monotonic_ns);
  if (!is_new && (is_of_older_agent || !is_newer(*status, before))) return nullptr;
  std::uint64_t age_ns = may_have_waited && now.wall_ns > status->time_ns ? now.wall_ns - status->time_ns : 0;
  if (!is_new) age_ns = std::min(age_ns, member.age_ns(now.monotonic_ns));
  member.heard_ns = static_cast<std::int64_t>(now.monotonic_ns) - static_cast<std::int64_t>(age_ns);
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

std::vector<std::uint64_t> Roster::forget_silent(std::uint64_t monotonic_ns) {
  std::vector<std::uint64_t> numbers;
  if (monotonic_ns < next_forgetting_ns_) return numbers;
  next_forgetting_ns_ = monotonic_ns + kForgetEvery_ns;
  std::erase_if(members_, [&](const auto& one) {
    if (one.second.age_ns(monotonic_ns) <= kKept_ns) return false;
    numbers.push_back(one.second.number);
    return true;
  });
  return numbers;
}

}  // namespace landtrace::fleet
