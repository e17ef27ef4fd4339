// The one thread of a session that does what no request may wait for while it holds the domain: it looks after those
// who wait, and brings changes to pages that programs have mapped. It sleeps while there is neither.
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
  Courier(domain::Domain& domain, Waiters& waiters) : domain_(domain), waiters_(waiters) {}
  ~Courier() { stop(); }
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void start(fuse_session* session, Errands& errands);
  void stop();

  // Somebody has begun to wait, or has been woken or interrupted. Any thread, holding anything.
  void poke();
  // The bytes [offset, offset + size) of the page at `page` have changed: every mapping of the inode will show what they
  // are then. Any thread, holding anything.
  void bring(std::uint64_t inode, const std::byte* page, std::size_t offset, std::size_t size);
  // Waits until all that was to be brought is there: before who has caused it gets an answer. The caller must not hold
  // the domain, nor be the only one who can answer reads of pages: the kernel may need one first.
  void wait_for_pages();

 private:
  struct Change {
    std::uint64_t inode;
    const std::byte* page;
    std::size_t offset;
    std::size_t size;
  };
  void run();
  void bring_all(const std::vector<Change>& changes);

  // How long a waiting reader waits for the next look: more and more, while nothing comes.
  static constexpr std::chrono::microseconds kShortest{1000};
  static constexpr std::chrono::microseconds kLongest{20000};

  domain::Domain& domain_;
  Waiters& waiters_;
  fuse_session* session_ = nullptr;
  Errands* errands_ = nullptr;

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable brought_;
  bool is_stopping_ = false;
  bool is_poked_ = false;
  bool is_bringing_ = false;
  std::vector<Change> changes_;
  std::thread thread_;
};

}  // namespace landtrace::fuse
