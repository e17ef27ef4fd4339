#include "domain/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace landtrace::domain {
namespace {

// Of the owner itself: segments, mounts, rings that recorders map.
constexpr std::uint64_t kOwn = 128;
// For the domain's user and root, however many guests there are.
constexpr std::uint64_t kKept = 256;

std::uint64_t limit_of_process() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 1024;
}

}  // namespace

Descriptors::Descriptors(std::uint32_t owner_uid) : Descriptors(owner_uid, limit_of_process()) {}

std::uint64_t Descriptors::taken_by(std::uint32_t uid) const {
  const auto own = by_uid_.find(uid);
  return own == by_uid_.end() ? 0 : own->second;
}

bool Descriptors::take(std::uint32_t uid, std::uint32_t count) {
  const bool is_guest = uid != 0 && uid != owner_uid_;
  const std::uint64_t own = taken_by(uid);
  const std::uint64_t kept = kOwn + std::min(kKept, limit_ / 4);
  const std::uint64_t used = kept + (taken_ - own);
  if (is_guest && (used >= limit_ || own + count > (limit_ - used) / 2)) return false;
  taken_ += count;
  by_uid_[uid] = own + count;
  return true;
}

void Descriptors::give_back(std::uint32_t uid, std::uint32_t count) {
  const auto own = by_uid_.find(uid);
  if (own == by_uid_.end()) return;
  taken_ -= count;
  own->second -= count;
  if (own->second == 0) by_uid_.erase(own);
}

}  // namespace landtrace::domain
