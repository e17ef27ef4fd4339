// The one thread of a session that does what no request may wait for while it holds the domain: it serves waiting
// readers, and brings changes to pages that programs have mapped. It sleeps while there is neither.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "domain/domain.hpp"
#include "fuse/waiters.hpp"

namespace landtrace::fuse {

class Errands;

class Courier {
 public:
  Courier(domain::Domain& domain, Waiters& waiters)
      : domain_(domain), waiters_(waiters), arrivals_(domain.status_pages().arrivals()) {}
  ~Courier() { stop(); }
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void start(fuse_session* session, Errands& errands);
  void stop();

  // A reader has begun to wait, or was woken or interrupted. For any thread, whatever it holds.
  void poke();
  // The bytes [offset, offset + size) of the page at `page` have changed: the courier brings their then current
  // values to every mapping of the inode. For any thread, whatever it holds.
  void bring(std::uint64_t inode, const std::byte* page, std::size_t offset, std::size_t size);
  // Waits until all changes have arrived, those that other couriers bring, too. A request that caused a change calls it
  // before it is answered, so that all programs see the change. The caller must not hold the domain, nor be the only
  // thread that can answer reads of pages: the kernel may have to read the page before it stores into it.
  void wait_for_pages() { arrivals_.wait(); }

 private:
  struct Change {
    std::uint64_t inode;
    const std::byte* page;
    std::size_t offset;
    std::size_t size;
    domain::Arrivals::Ticket ticket;
  };
  void run();
  void bring_all(const std::vector<Change>& changes);

  // The time between two looks for waiting readers. It grows while nothing comes.
  static constexpr std::chrono::microseconds kShortest{1000};
  static constexpr std::chrono::microseconds kLongest{20000};

  domain::Domain& domain_;
  Waiters& waiters_;
  domain::Arrivals& arrivals_;
  fuse_session* session_ = nullptr;
  Errands* errands_ = nullptr;

  std::mutex mutex_;
  std::condition_variable work_;
  bool is_stopping_ = false;
  bool is_poked_ = false;
  std::vector<Change> changes_;
  std::thread thread_;
};

}  // namespace landtrace::fuse
