#include "fuse/workers.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "fuse/mounted_tree.hpp"

namespace landtrace::fuse {
namespace {

// The largest write and its header (mounted_tree.cc), and what libfuse allots.
constexpr std::size_t kBufferBytes = (1u << 20) + 4096;

// stop() takes a thread out of read(), and out of nothing else, by cancelling it: closing the descriptor would not wake it,
// and waiting in poll() would cost each event a system call.
class Cancellable {
 public:
  Cancellable() { ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr); }
  ~Cancellable() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
};

ssize_t read_request(int fd, std::span<std::byte> buffer) {
  const Cancellable now;
  return ::read(fd, buffer.data(), buffer.size());
}

}  // namespace

// What a thread is for its whole life, however it ends.
class Workers::Worker {
 public:
  explicit Worker(Workers& workers) : workers_(workers), proxy_(std::in_place, workers.domain_) {
    this_thread_records_by = &*proxy_;
  }
  ~Worker() {
    this_thread_records_by = nullptr;
    proxy_.reset();
    if (--workers_.running_ != 0) return;
    workers_.hooks_.at_end();
    workers_.has_ended_ = true;
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  Workers& workers_;
  std::optional<domain::Proxy> proxy_;
};

void Workers::start(unsigned threads) {
  // One for the control lane, one that reads.
  threads = std::max(threads, 2u);
  running_ = threads;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Workers::stop() {
  is_stopping_ = true;
  for (std::thread& thread : threads_) ::pthread_cancel(thread.native_handle());
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::run() {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  const Worker worker(*this);
  std::vector<std::byte> buffer(kBufferBytes);
  std::size_t size = 0;
  while (read_requests(buffer, size)) run_lane({buffer.data(), size});
}

bool Workers::read_requests(std::vector<std::byte>& buffer, std::size_t& size) {
  const std::lock_guard reading(reading_);
  while (!is_stopping_) {
    const ssize_t got = read_request(fd_, buffer);
    if (got < 0) {
      // ENOENT: whoever asked is gone.
      if (errno == EINTR || errno == EAGAIN || errno == ENOENT) continue;
      return false;  // ENODEV: unmounted
    }
    size = static_cast<std::size_t>(got);
    const std::span<std::byte> bytes(buffer.data(), size);
    const wire::Request request = wire::parse(bytes);
    if (wire::is_init(request)) hooks_.at_init(request);
    if (hooks_.is_prompt(request)) {
      process(bytes);
    } else if (enter_lane(bytes)) {
      return true;
    }
  }
  return false;
}

void Workers::process(std::span<std::byte> request) {
  fuse_buf whole{};
  whole.size = request.size();
  whole.mem = request.data();
  whole.fd = -1;
  fuse_session_process_buf(session_, &whole);
}

bool Workers::enter_lane(std::span<const std::byte> request) {
  const std::lock_guard lock(lane_mutex_);
  if (is_lane_busy_) {
    lane_.emplace_back(request.begin(), request.end());
    return false;
  }
  is_lane_busy_ = true;
  return true;
}

void Workers::run_lane(std::span<std::byte> first) {
  process(first);
  while (true) {
    std::vector<std::byte> next;
    {
      const std::lock_guard lock(lane_mutex_);
      if (lane_.empty()) {
        is_lane_busy_ = false;
        return;
      }
      next = std::move(lane_.front());
      lane_.pop_front();
    }
    process(next);
  }
}

}  // namespace landtrace::fuse
