// The two threads that take requests from the kernel. One of them reads. It does at once what must not wait for
// anything: events that programs write, reads of mapped pages, interruptions. All other requests are the *control
// lane*: one at a time, in the order in which they came. The reader does these too, since most are short and waking
// the other thread costs more. But if one takes longer than kPatience, the other thread takes over the reading:
//
//   thread 1   read, write event, read, lookup, read, ioctl ................. done; next in lane; then sleeps
//   thread 2   sleeps                                  (timer) read, write event, read: to the lane's queue, ...
//
// So events are recorded however long another request holds the domain, and a file is closed before anything is done
// that its program asks for after close(). A write of many definitions lets those pass that wait in the lane:
// let_pass().
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
    // Called for the kernel's first request, before it is processed.
    std::function<void(const wire::Request&)> at_init;
    // Runs once, in the last thread that ends, after the tree was unmounted or stop() called.
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
  // Called by a request of the lane that takes long, where it does not hold the domain: those that wait now are done.
  void let_pass();

 private:
  class Worker;
  static constexpr unsigned kThreads = 2;
  static constexpr std::chrono::microseconds kPatience{250};

  void run(bool is_reader);
  // Serves requests until the session ends or the other thread has taken over the reading.
  void read_requests(std::vector<std::byte>& buffer);
  // False: the other thread reads from now on.
  bool serve(std::span<std::byte> bytes);
  bool serve_lane(std::span<std::byte> bytes);
  // Waits until this thread has to read. False: the session ends.
  bool wait_to_read();
  void process(std::span<std::byte> request);
  void look_after(std::chrono::nanoseconds time);
  void end();

  domain::Domain& domain_;
  fuse_session* session_;
  int fd_;
  Hooks hooks_;

  std::vector<std::thread> threads_;
  // Threads that have not ended. The last decrement pairs with those before it: at_end runs after all that they did.
  std::atomic<unsigned> running_{0};
  // Ends the threads' loops; its partners are the loads there. Orders nothing.
  std::atomic<bool> is_over_{false};
  // Set behind at_end, which it pairs with the load in has_ended() for.
  std::atomic<bool> has_ended_{false};

  // Readable when the threads have to end.
  Fd stop_;
  // Wakes the thread that does not read, to look whether the lane is stuck.
  Fd timer_;
  std::mutex lane_mutex_;
  bool is_lane_busy_ = false;
  // The timer is set.
  bool is_looked_after_ = false;
  // The other thread reads while the lane is busy.
  bool is_taken_over_ = false;
  // Counts requests of the lane, and what that was when the timer was set: equal figures mean that the lane still
  // does the same one.
  std::uint64_t turn_ = 0;
  std::uint64_t turn_seen_ = 0;
  std::deque<std::vector<std::byte>> lane_;
  bool lets_pass_ = false;  // of the lane's thread: what passes lets nobody pass
};

}  // namespace landtrace::fuse
