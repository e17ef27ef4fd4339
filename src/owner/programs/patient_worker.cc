#include "programs/patient_worker.hpp"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace landtrace::programs {

// A thread, and the one job that it has. Both the PatientWorker and the thread own it: the thread may come back from a
// job long after the PatientWorker has given it up, or has been destroyed.
class PatientWorker::Thread : public std::enable_shared_from_this<Thread> {
 public:
  void start() {
    // Detached, because nobody can wait for it to end. With all signals blocked, which are for the program's own
    // threads: a handler that runs in a thread that hangs would not come back either.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([self = shared_from_this()] { self->loop(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  bool run(std::function<void()> job, std::chrono::microseconds patience) {
    std::unique_lock lock(mutex_);
    job_ = std::move(job);
    done_ = false;
    changed_.notify_all();
    return changed_.wait_for(lock, patience, [this] { return done_; });
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || job_; });
      if (!job_) return;  // stopped
      // Destroyed at the end of each turn: what a job owns must not live until the next one comes.
      const auto job = std::exchange(job_, nullptr);
      lock.unlock();
      job();
      lock.lock();
      done_ = true;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool done_ = false;
  bool stopped_ = false;
};

PatientWorker::PatientWorker() = default;

PatientWorker::~PatientWorker() {
  if (thread_) thread_->stop();
}

bool PatientWorker::run(std::function<void()> job, std::chrono::microseconds patience) {
  if (!thread_) {
    thread_ = std::make_shared<Thread>();
    thread_->start();
  }
  if (thread_->run(std::move(job), patience)) return true;
  // If it ever comes back it ends; until then it is left alone.
  thread_->stop();
  thread_.reset();
  return false;
}

}  // namespace landtrace::programs
