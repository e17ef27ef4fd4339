// Changes of pages on their way to the mappings of programs. A mounted tree brings them (fuse/courier.hpp), which takes
// a moment; whoever has caused one is answered after it has arrived, whichever way he asked and wherever it goes.
//
// For any thread. Only wait() waits, and its caller holds no domain.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace landtrace::domain {

class Arrivals {
 public:
  using Ticket = std::uint64_t;

  // A change is to be brought.
  Ticket begin();
  // It has arrived, or nobody is there any more to whom it could be brought.
  void end(Ticket ticket);

  [[nodiscard]] bool are_awaited() const;
  // Waits until all that had begun has ended, and not for what begins meanwhile. A second at most: a mount that its own
  // user blocks, who has the descriptor, too, must not block the others.
  void wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  Ticket next_ = 0;
  std::set<Ticket> on_their_way_;
};

}  // namespace landtrace::domain
