// Changes of pages on their way to the mappings of programs. A mounted tree brings them (fuse/courier.hpp), which takes
// a moment; whoever has caused one is answered after it has arrived, whichever way he asked and wherever it goes.
//
// For any thread. Only wait() waits, and its caller holds no domain.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace landtrace::domain {

class Arrivals {
 public:
  using Ticket = std::uint64_t;

  // Nobody waits for longer: a mount that its own user blocks, who has the descriptor, too, must not block the others.
  explicit Arrivals(std::chrono::nanoseconds longest = std::chrono::seconds(1)) : longest_(longest) {}

  // A change is to be brought.
  Ticket begin();
  // It has arrived, or nobody is there any more to whom it could be brought.
  void end(Ticket ticket);

  [[nodiscard]] bool are_awaited() const;
  // The ticket of the next that begins.
  [[nodiscard]] Ticket next() const;
  // Waits until all before this ticket has ended.
  void wait_before(Ticket ticket) const;
  // Waits until all that had begun has ended, and not for what begins meanwhile.
  void wait() const { wait_before(next()); }

 private:
  const std::chrono::nanoseconds longest_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  Ticket next_ = 0;
  std::set<Ticket> on_their_way_;
};

}  // namespace landtrace::domain
