// Which connections have something to say, user by user: however many of one's are ready, they are one entry among what
// the server looks at, and hide nobody else's.
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::host {

// EPOLLIN of `fd`, in the set `epoll`.
Result<void> watch(int epoll, int fd);

class UserSets {
 public:
  // `epoll` is what the server waits for; it must outlive this.
  explicit UserSets(int epoll);

  // A connection of this user's. It leaves its set when it is closed; remove() counts that.
  Result<void> add(std::uint32_t uid, int fd);
  void remove(std::uint32_t uid);

  // Whose set a descriptor is that the server's epoll has reported.
  [[nodiscard]] std::optional<std::uint32_t> user_of(int set) const;
  // Of this user's connections those that are ready now, as far as there is room; until the next call. In turns, where
  // there are more.
  std::span<const epoll_event> ready(std::uint32_t uid);

 private:
  struct Set {
    Fd epoll;
    std::size_t connections = 0;
  };

  int epoll_;
  std::unordered_map<std::uint32_t, Set> sets_;
  std::unordered_map<int, std::uint32_t> users_;  // by their set's descriptor
  std::vector<epoll_event> room_;
};

}  // namespace landtrace::host
