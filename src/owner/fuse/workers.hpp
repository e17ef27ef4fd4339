// The two threads that take requests from the kernel. One of them reads, and does at once what must not wait for
// anything: recording events that programs write, reads of mapped pages, interruptions. All else is the *control lane*:
// one request at a time, in the order in which they came. The reader does these too, since most are short and waking the
// other thread costs more; but if one takes longer than kPatience the other thread takes over the reading.
//
// So however long something takes that holds the domain, events go on being recorded; and what closes a file has been
// done by the time of anything that its program asks for after close().
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "domain/domain.hpp"
#include "fuse/lowlevel.hpp"
#include "fuse/wire.hpp"

namespace landtrace::fuse {

class Workers {
 public:
  struct Hooks {
    // Whether a request is done at once: it neither takes the domain nor waits.
    std::function<bool(const wire::Request&)> is_prompt;
    // What the kernel asks to begin with.
    std::function<void(const wire::Request&)> at_init;
    // Runs once, in the last thread to go, after the tree has been unmounted or stop() called.
    std::function<void()> at_end;
  };
  Workers(domain::Domain& domain, fuse_session* session, int fd, Hooks hooks)
      : domain_(domain), session_(session), fd_(fd), hooks_(std::move(hooks)) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Result<void> start();
  void stop();
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  class Worker;
  static constexpr unsigned kThreads = 2;
  static constexpr std::chrono::microseconds kPatience{250};

  void run(bool is_reader);
  // Serves requests until there are no more, or another thread has taken over the reading.
  void read_requests(std::vector<std::byte>& buffer);
  // False: another thread is to read them.
  bool serve(std::span<std::byte> bytes);
  bool serve_lane(std::span<std::byte> bytes);
  // Waits until this thread is to read. False: there is nothing to read any more.
  bool wait_to_read();
  void process(std::span<std::byte> request);
  void look_after(std::chrono::nanoseconds time);
  void end();

  domain::Domain& domain_;
  fuse_session* session_;
  int fd_;
  Hooks hooks_;

  std::vector<std::thread> threads_;
  std::atomic<unsigned> running_{0};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> has_ended_{false};

  Fd stop_;   // readable when the threads are to end
  Fd timer_;  // wakes the thread that does not read, to look after the lane
  std::mutex lane_mutex_;
  bool is_lane_busy_ = false;
  bool is_looked_after_ = false;  // the timer is set
  bool is_taken_over_ = false;    // another thread reads while the lane is busy
  std::uint64_t turn_ = 0;        // counts what the lane has done
  std::uint64_t turn_seen_ = 0;   // when the timer was set
  std::deque<std::vector<std::byte>> lane_;
};

}  // namespace landtrace::fuse
