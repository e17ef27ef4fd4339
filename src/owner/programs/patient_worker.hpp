// A thread for work that may never come back, like touching memory whose process handles its page faults itself.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

namespace landtrace::programs {

class PatientWorker {
 public:
  // The thread is started with the first job.
  PatientWorker();
  // Does not wait for jobs that have not come back.
  ~PatientWorker();

  // Runs the job in the thread, and returns true when it is done. False if that takes longer than `patience`: then the
  // thread is left behind with the job, and the next job gets another thread. The job may go on, so it must own what it
  // touches. One call at a time. A thread that waits for a CPU uses up no patience, for a second.
  bool run(std::function<void()> job, std::chrono::microseconds patience);
  // The same without waiting.
  void leave(std::function<void()> job) { std::ignore = run(std::move(job), std::chrono::microseconds(0)); }

  // Threads that were left behind and have not come back yet.
  [[nodiscard]] unsigned left_behind() const { return *left_behind_; }

 private:
  class Thread;
  std::shared_ptr<Thread> thread_;
  // Shared with the threads, which may outlive this. A count that orders nothing: without a partner.
  std::shared_ptr<std::atomic<unsigned>> left_behind_ = std::make_shared<std::atomic<unsigned>>(0);
};

}  // namespace landtrace::programs
