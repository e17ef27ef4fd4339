#include "fleet/host_time.hpp"

#include <algorithm>

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kForgetEvery_ns = 60'000'000'000;

}  // namespace

bool HostTime::has_some(const std::string& host, std::uint64_t now_ns) const {
  const auto known = whole_again_ns_.find(host);
  return known == whole_again_ns_.end() || known->second < now_ns + kShare * kMostSaved_ns;
}

void HostTime::take(const std::string& host, std::uint64_t took_ns, std::uint64_t now_ns) {
  forget_paid(now_ns);
  std::uint64_t& whole_again_ns = whole_again_ns_[host];
  whole_again_ns = std::max(whole_again_ns, now_ns) + kShare * took_ns;
}

void HostTime::forget_paid(std::uint64_t now_ns) {
  if (now_ns < next_forgetting_ns_) return;
  next_forgetting_ns_ = now_ns + kForgetEvery_ns;
  std::erase_if(whole_again_ns_, [&](const auto& one) { return one.second <= now_ns; });
}

}  // namespace landtrace::fleet
