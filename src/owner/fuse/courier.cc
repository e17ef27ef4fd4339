#include "fuse/courier.hpp"

#include <algorithm>

#include "fuse/errands.hpp"

namespace landtrace::fuse {

void Courier::start(fuse_session* session, Errands& errands) {
  session_ = session;
  errands_ = &errands;
  thread_ = std::thread([this] { run(); });
}

void Courier::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
  for (const Change& change : std::exchange(changes_, {})) arrivals_.end(change.ticket);
}

void Courier::poke() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_poked_, true)) return;
  }
  work_.notify_one();
}

void Courier::bring(std::uint64_t inode, const std::byte* page, std::size_t offset, std::size_t size) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return;
    changes_.push_back({inode, page, offset, size, arrivals_.begin()});
  }
  work_.notify_one();
}

void Courier::bring_all(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    fuse_bufvec bytes = {};
    bytes.count = 1;
    bytes.buf[0].fd = -1;
    bytes.buf[0].size = change.size;
    bytes.buf[0].mem = const_cast<std::byte*>(change.page + change.offset);
    // An error is no loss: with ENOENT the inode is not in the page cache, and whoever maps it reads the page then.
    fuse_lowlevel_notify_store(session_, change.inode, static_cast<off_t>(change.offset), &bytes,
                               static_cast<fuse_buf_copy_flags>(0));
    arrivals_.end(change.ticket);
  }
}

void Courier::run() {
  auto delay = kShortest;
  bool is_anyone_waiting = false;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_work = [this] { return is_stopping_ || is_poked_ || !changes_.empty(); };
    if (is_anyone_waiting) {
      work_.wait_for(lock, delay, has_work);
    } else {
      work_.wait(lock, has_work);
    }
    if (is_stopping_) return;
    // Both are taken before the work: what comes meanwhile makes another round.
    const bool was_poked = std::exchange(is_poked_, false);
    const auto changes = std::exchange(changes_, {});
    // Unlocked: storing into a page may wait for a read of that page, which a worker has to answer first.
    lock.unlock();
    bring_all(changes);
    if (was_poked) errands_->serve_interrupted();
    if (was_poked || is_anyone_waiting) {
      const auto access = domain_.enter();
      const Waiters::Round round = waiters_.serve();
      is_anyone_waiting = round.is_anyone_left;
      delay = was_poked || round.has_served ? kShortest : std::min(delay + delay / 4, kLongest);
    }
    lock.lock();
  }
}

}  // namespace landtrace::fuse
