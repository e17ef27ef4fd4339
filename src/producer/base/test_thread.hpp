// Threads in tests, which have ended when a test goes on: pthread_join() returns some microseconds before the kernel
// forgets a thread's number. Those who listen to the proc connector are told of its end later still.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <future>
#include <thread>

namespace landtrace {

inline std::uint32_t this_thread() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

// A thread of this process.
inline void wait_until_gone(std::uint32_t tid) {
  while (::syscall(SYS_tgkill, ::getpid(), tid, 0) == 0 || errno != ESRCH) std::this_thread::yield();
}

// Its number.
template <typename Does>
std::uint32_t run_in_thread(const Does& does) {
  std::uint32_t tid = 0;
  std::thread([&] {
    tid = this_thread();
    does();
  }).join();
  wait_until_gone(tid);
  return tid;
}
inline std::uint32_t dead_thread() {
  return run_in_thread([] {});
}

// Lives until it is told to end.
class WaitingThread {
 public:
  WaitingThread() {
    std::promise<std::uint32_t> tid;
    thread_ = std::thread([&tid, this] {
      tid.set_value(this_thread());
      end_.get_future().wait();
    });
    tid_ = tid.get_future().get();
  }
  ~WaitingThread() { end(); }
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;

  [[nodiscard]] std::uint32_t tid() const { return tid_; }
  void end() {
    if (!thread_.joinable()) return;
    end_.set_value();
    thread_.join();
    wait_until_gone(tid_);
  }

 private:
  std::promise<void> end_;
  std::thread thread_;
  std::uint32_t tid_ = 0;
};

}  // namespace landtrace
