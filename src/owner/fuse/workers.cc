#include "fuse/workers.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <csignal>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "fuse/mounted_tree.hpp"
#include "fuse/request_reader.hpp"

namespace landtrace::fuse {
namespace {

// The largest write and its header (mounted_tree.cc), and what libfuse allots.
constexpr std::size_t kBufferBytes = (1u << 20) + 4096;

}  // namespace

// What a thread has for its whole life, however it ends: its proxy, and its share in the end of the session.
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

Result<void> Workers::start() {
  LT_CHECK(RequestReader::prepare(fd_));
  timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_) return fail_errno("timerfd_create");
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return fail_errno("eventfd");
  running_ = kThreads;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
  for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { run(i == 0); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

void Workers::stop() {
  is_over_ = true;
  constexpr std::uint64_t kOne = 1;
  if (stop_) std::ignore = ::write(stop_.get(), &kOne, sizeof kOne);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::run(bool is_reader) {
  const Worker worker(*this);
  std::vector<std::byte> buffer(kBufferBytes);
  if (is_reader) read_requests(buffer);
  while (wait_to_read()) read_requests(buffer);
}

void Workers::read_requests(std::vector<std::byte>& buffer) {
  RequestReader reader(fd_, stop_.get());
  while (!is_over_) {
    const ssize_t got = reader.next(buffer);
    if (got >= 0) {
      if (!serve({buffer.data(), static_cast<std::size_t>(got)})) return;
    } else if (errno != EINTR && errno != EAGAIN && errno != ENOENT) {
      // ENODEV: unmounted. ECANCELED: stop(). (ENOENT above: the caller was gone before its request was read.)
      return end();
    }
  }
}

bool Workers::serve(std::span<std::byte> bytes) {
  const wire::Request request = wire::parse(bytes);
  if (wire::is_init(request)) hooks_.at_init(request);
  if (!hooks_.is_prompt(request)) return serve_lane(bytes);
  process(bytes);
  return true;
}

// The thread that finds the lane free does this request, and then all that the other thread has queued meanwhile. It
// returns false if the other one has taken over the reading: two readers would do requests out of order.
bool Workers::serve_lane(std::span<std::byte> bytes) {
  {
    const std::lock_guard lock(lane_mutex_);
    if (is_lane_busy_) {
      lane_.emplace_back(bytes.begin(), bytes.end());
      return true;
    }
    is_lane_busy_ = true;
    ++turn_;
    if (!is_looked_after_) look_after(kPatience);
  }
  process(bytes);
  while (true) {
    std::vector<std::byte> next;
    {
      const std::lock_guard lock(lane_mutex_);
      if (lane_.empty()) {
        is_lane_busy_ = false;
        return !std::exchange(is_taken_over_, false);
      }
      next = std::move(lane_.front());
      lane_.pop_front();
    }
    process(next);
  }
}

void Workers::let_pass() {
  if (std::exchange(lets_pass_, true)) return;
  std::deque<std::vector<std::byte>> waiting;
  {
    const std::lock_guard lock(lane_mutex_);
    waiting.swap(lane_);
  }
  for (auto& request : waiting) process(request);
  lets_pass_ = false;
}

// The timer is set with the lane's first request, and not for each: when it expires and the lane has gone on to other
// requests, it is set once more; when it is still at the same one, this thread takes over.
bool Workers::wait_to_read() {
  while (!is_over_) {
    pollfd files[] = {{timer_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    ::poll(files, std::size(files), -1);
    std::uint64_t expirations = 0;
    std::ignore = ::read(timer_.get(), &expirations, sizeof expirations);
    const std::lock_guard lock(lane_mutex_);
    is_looked_after_ = false;
    if (is_over_ || !is_lane_busy_ || is_taken_over_) continue;
    if (turn_ == turn_seen_) {
      is_taken_over_ = true;
      return true;
    }
    look_after(kPatience);
  }
  return false;
}

// The caller has locked the lane.
void Workers::look_after(std::chrono::nanoseconds time) {
  is_looked_after_ = true;
  turn_seen_ = turn_;
  itimerspec when{};
  when.it_value.tv_nsec = time.count();
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

// The timer wakes the other thread, which then sees is_over_.
void Workers::end() {
  is_over_ = true;
  const std::lock_guard lock(lane_mutex_);
  look_after(std::chrono::nanoseconds(1));
}

void Workers::process(std::span<std::byte> request) {
  fuse_buf whole{};
  whole.size = request.size();
  whole.mem = request.data();
  whole.fd = -1;
  fuse_session_process_buf(session_, &whole);
}

}  // namespace landtrace::fuse
