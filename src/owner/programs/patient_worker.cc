#include "programs/patient_worker.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fd.hpp"

namespace landtrace::programs {
namespace {

constexpr auto kPatienceWithScheduler = std::chrono::seconds(1);
constexpr auto kLookAgain = std::chrono::milliseconds(1);

bool is_runnable(pid_t tid) {
  const auto stat = read_file("/proc/self/task/" + std::to_string(tid) + "/stat", 4096);
  const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
  return name_end != std::string::npos && (*stat)[name_end + 2] == 'R';
}

}  // namespace

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
    const auto is_done = [this] { return done_; };
    if (changed_.wait_for(lock, patience, is_done)) return true;
    if (patience.count() == 0) return false;
    const auto end = std::chrono::steady_clock::now() + kPatienceWithScheduler;
    while (std::chrono::steady_clock::now() < end && waits_for_cpu(patience)) {
      if (changed_.wait_for(lock, kLookAgain, is_done)) return true;
    }
    return done_;
  }

  // It ends when it comes back from its job, which is counted until then (a count without a partner).
  void leave_behind(std::shared_ptr<std::atomic<unsigned>> count) {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      left_behind_ = std::move(count);
      ++*left_behind_;
    }
    stopped_ = true;
    changed_.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  // It has not begun, or could run, and has not used the CPU for as long as our patience is.
  bool waits_for_cpu(std::chrono::microseconds patience) const {
    if (tid_ == 0) return true;
    timespec used{};
    if (::clock_gettime(clock_, &used) != 0) return false;
    const auto since = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec) - used_before_;
    return since < patience && is_runnable(tid_);
  }

  void loop() {
    std::unique_lock lock(mutex_);
    tid_ = ::gettid();
    ::pthread_getcpuclockid(::pthread_self(), &clock_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || job_; });
      if (!job_) return;  // stopped
      // Destroyed at the end of each turn: what a job owns must not live until the next one comes.
      const auto job = std::exchange(job_, nullptr);
      timespec used{};
      ::clock_gettime(clock_, &used);
      used_before_ = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
      lock.unlock();
      job();
      lock.lock();
      done_ = true;
      if (left_behind_) --*std::exchange(left_behind_, nullptr);
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool done_ = false;
  bool stopped_ = false;
  std::shared_ptr<std::atomic<unsigned>> left_behind_;  // as PatientWorker's: without a partner
  pid_t tid_ = 0;
  clockid_t clock_{};
  std::chrono::nanoseconds used_before_{};  // of the CPU, when the job began
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
  thread_->leave_behind(left_behind_);
  thread_.reset();
  return false;
}

}  // namespace landtrace::programs
