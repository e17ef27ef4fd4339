// The threads that take requests from the kernel. One at a time reads them, and does at once what must not wait for
// anything: recording events that programs write, reads of mapped pages, interruptions. All else is the *control lane*:
// one request at a time and in the order in which they came, by the thread that read the first of them, while another
// one takes over the reading.
//
// So however long something takes that holds the domain, events go on being recorded; and what closes a file has been
// done by the time of anything that its program asks for after close().
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

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

  void start(unsigned threads);
  void stop();
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  class Worker;
  void run();
  // Reads until there is something for the control lane that this thread is to do. False: no more requests.
  bool read_requests(std::vector<std::byte>& buffer, std::size_t& size);
  void process(std::span<std::byte> request);
  // False: another thread is in the lane, and will do it.
  bool enter_lane(std::span<const std::byte> request);
  void run_lane(std::span<std::byte> first);

  domain::Domain& domain_;
  fuse_session* session_;
  int fd_;
  Hooks hooks_;

  std::vector<std::thread> threads_;
  std::atomic<unsigned> running_{0};
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_ended_{false};
  std::mutex reading_;  // held by the one that reads

  std::mutex lane_mutex_;
  bool is_lane_busy_ = false;
  std::deque<std::vector<std::byte>> lane_;
};

}  // namespace landtrace::fuse
