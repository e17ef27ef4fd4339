// A thread for work that may never come back, like touching memory whose process handles its page faults itself.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace landtrace::programs {

class PatientWorker {
 public:
  // The thread is started with the first job.
  PatientWorker();
  // Does not wait for jobs that have not come back.
  ~PatientWorker();

  // Runs the job in the thread, and returns true when it is done. False if that takes longer than `patience`: then the
  // thread is left behind with the job, and the next job gets another thread. The job may go on, so it must own what it
  // touches. One call at a time.
  bool run(std::function<void()> job, std::chrono::microseconds patience);

 private:
  class Thread;
  std::shared_ptr<Thread> thread_;
};

}  // namespace landtrace::programs
