// Grace periods: when may the owner free what it has replaced? When no producer can still hold it (see
// plan/section.hpp for the other half).
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <vector>

#include "domain/users.hpp"

namespace landtrace::domain {

// How long to wait for producers that are stopped in the middle, where something is taken away that they write to.
inline constexpr std::chrono::milliseconds kPatience{200};

class Grace {
 public:
  explicit Grace(const Users& users) : users_(users) {}

  // Runs `free` once every producer that may hold the old object has left its section. The replacement must have
  // been published before the call.
  void after_readers(std::function<void()> free);

  // Runs what is due. Cheap when nothing waits. True while something still waits. What is kept and done is bounded,
  // also where a user's segment is full of readers that do not exist.
  bool poll();
  [[nodiscard]] bool is_waiting() const { return !fresh_.empty() || !waiting_.empty(); }
  // How many groups of frees wait, each for readers of its own.
  [[nodiscard]] std::size_t batches() const { return waiting_.size(); }
  // Polls until nothing waits; false after `limit` (a stopped producer may be inside).
  bool drain(std::chrono::milliseconds limit);
  // Waits, for a little while, until no producer is inside what was published before: what was taken away has no effect
  // any more. One that is stopped there, or waits for a CPU, is not waited for.
  void settle(std::chrono::milliseconds limit = std::chrono::milliseconds(1));

 private:
  struct Inside {
    const plan::ThreadSlot* slot;
    std::uint64_t section;
    std::uint32_t pid;
    std::uint32_t tid;
  };
  struct Waiting {
    std::vector<std::function<void()>> frees;
    std::vector<Inside> inside;
    std::chrono::steady_clock::time_point next_check{};  // of whether the readers live
  };
  [[nodiscard]] std::vector<Inside> look_for_readers() const;
  void queue_fresh();

  const Users& users_;
  std::vector<std::function<void()>> fresh_;  // not yet behind a barrier
  std::deque<Waiting> waiting_;
};

}  // namespace landtrace::domain
