#include "host/user_sets.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::host {
namespace {

constexpr std::size_t kMostOfOneUser = 4096;

}  // namespace

Result<void> watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno("epoll_ctl");
  return {};
}

UserSets::UserSets(int epoll) : epoll_(epoll), room_(kMostOfOneUser) {}

Result<void> UserSets::add(std::uint32_t uid, int fd) {
  const auto found = sets_.find(uid);
  if (found != sets_.end()) {
    LT_CHECK(watch(found->second.epoll.get(), fd));
    ++found->second.connections;
    return {};
  }
  Fd set(::epoll_create1(EPOLL_CLOEXEC));
  if (!set) return fail_errno("epoll_create1");
  LT_CHECK(watch(set.get(), fd));
  LT_CHECK(watch(epoll_, set.get()));
  users_.emplace(set.get(), uid);
  sets_.emplace(uid, Set{std::move(set), 1});
  return {};
}

void UserSets::remove(std::uint32_t uid) {
  const auto found = sets_.find(uid);
  if (found == sets_.end() || --found->second.connections != 0) return;
  users_.erase(found->second.epoll.get());
  sets_.erase(found);
}

std::optional<std::uint32_t> UserSets::user_of(int set) const {
  const auto found = users_.find(set);
  return found == users_.end() ? std::nullopt : std::optional(found->second);
}

std::span<const epoll_event> UserSets::ready(std::uint32_t uid) {
  const auto found = sets_.find(uid);
  if (found == sets_.end()) return {};
  const int n = ::epoll_wait(found->second.epoll.get(), room_.data(), kMostOfOneUser, 0);
  return std::span(room_).first(static_cast<std::size_t>(std::max(n, 0)));
}

}  // namespace landtrace::host
