// A thread for work that may never come back, like touching memory whose process handles its page faults itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
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
  // touches. One call at a time, of all that follow. A thread that waits for a CPU uses up no patience, for a second.
  bool run(std::function<void()> job, std::chrono::microseconds patience);
  // The same without waiting.
  void leave(std::function<void()> job) {
    post(std::move(job));
    leave_behind();
  }

  enum class Outcome {
    kDone,
    // It has not got on for as long as the patience is, and does not wait for a CPU.
    kBlocked,
    // It gets on, or waits for a CPU, and was not done in time.
    kGoesOn,
  };
  // A job counts up how far it has got. Whoever waits looks there: without a partner.
  using Progress = std::atomic<std::uint64_t>;
  // Gives the thread a job, behind those that it has.
  void post(std::function<void()> job);
  // Waits until the thread has done its jobs. Patience begins anew whenever one gets on, until `longest` is over: so in
  // all this takes both, and a second more while the thread waits for a CPU. What is not done stays with the thread
  // until leave_behind(). Who goes on may be blocked at what it has come to since: look() finds that out.
  Outcome wait(std::chrono::microseconds patience, std::chrono::microseconds longest, const Progress& progress);
  // The same without waiting, for a thread that nobody waits for: kBlocked if it has not got on for so long since an
  // earlier look.
  Outcome look(std::chrono::microseconds patience, const Progress& progress);
  // The thread ends when it has done its jobs, and the next job gets another one.
  void leave_behind();

  // Threads that were left behind and have not come back yet.
  [[nodiscard]] unsigned left_behind() const { return *left_behind_; }

 private:
  class Thread;
  std::shared_ptr<Thread> thread_;
  // Shared with the threads, which may outlive this. A count that orders nothing: without a partner.
  std::shared_ptr<std::atomic<unsigned>> left_behind_ = std::make_shared<std::atomic<unsigned>>(0);
};

}  // namespace landtrace::programs
