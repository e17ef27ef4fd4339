// A thread for work that may never come back: touching memory whose process handles its page faults itself.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace landtrace::programs {

class PatientWorker {
 public:
  PatientWorker();
  ~PatientWorker();

  // Runs the job in the thread. False when it did not finish in time: its thread is left behind with it and another takes its
  // place for the next. The job may go on: it must own what it touches.
  bool run(std::function<void()> job, std::chrono::microseconds patience);

 private:
  class Thread;
  std::shared_ptr<Thread> thread_;
};

}  // namespace landtrace::programs
