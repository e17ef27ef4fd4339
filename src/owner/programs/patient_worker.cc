#include "programs/patient_worker.hpp"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace landtrace::programs {

// One job at a time. Shared with its thread, which may outlive the PatientWorker that gave up on it.
class PatientWorker::Thread : public std::enable_shared_from_this<Thread> {
 public:
  void start() {
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
      if (!job_) return;
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
  thread_->stop();  // when it ever comes back
  thread_.reset();
  return false;
}

}  // namespace landtrace::programs
