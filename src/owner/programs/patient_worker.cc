#include "programs/patient_worker.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/fd.hpp"

namespace landtrace::programs {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr auto kPatienceWithScheduler = std::chrono::seconds(1);
// So often within its patience a look is taken at how far the job has got.
constexpr int kLooks = 8;

bool is_runnable(pid_t tid) {
  const auto stat = read_file("/proc/self/task/" + std::to_string(tid) + "/stat", 4096);
  const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
  return name_end != std::string::npos && (*stat)[name_end + 2] == 'R';
}

}  // namespace

// A thread and its jobs. Both the PatientWorker and the thread own it: the thread may come back from a job long after
// the PatientWorker has given it up, or has been destroyed.
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

  void post(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++posted_;
    changed_.notify_all();
  }

  Outcome wait(microseconds patience, microseconds longest, const Progress& progress) {
    std::unique_lock lock(mutex_);
    const auto start = Clock::now();
    Seen seen = see(progress);
    const auto used_before = seen.used;
    const auto step = std::max(patience / kLooks, microseconds(100));
    while (!changed_.wait_for(lock, step, [this] { return done_ == posted_; })) {
      const auto now = Clock::now();
      const bool got_on = stand_now(progress) != seen.stand;
      if (got_on) seen = see(progress);
      const bool hangs = now - seen.since >= patience;
      const bool is_late = now - start >= longest;
      if (!hangs && !is_late) continue;
      const Running running = look_at_thread(lock);
      if (done_ == posted_) break;
      if (returned_) continue;  // it has nothing left to do that could block
      const bool waits = waits_for_a_cpu(running, seen, patience);
      if (hangs && !waits && seen.stand == stand_now(progress)) return Outcome::kBlocked;
      // The time for which it has waited for a CPU does not count, what it has used of one does.
      if (waits) seen.since = now - (running.used - seen.used);
      if (!is_late) continue;
      const bool has_had_its_time = !running.could_run || running.used - used_before >= longest;
      // Who has not got on since the last look may be blocked: that is found out first.
      if (got_on && has_had_its_time) return Outcome::kGoesOn;
      if (now - start >= longest + patience + kPatienceWithScheduler) return Outcome::kGoesOn;
    }
    return Outcome::kDone;
  }

  Outcome look(microseconds patience, const Progress& progress) {
    std::unique_lock lock(mutex_);
    if (!looked_ || looked_->stand != stand_now(progress)) looked_ = see(progress);
    const auto now = Clock::now();
    if (done_ != posted_ && now - looked_->since < patience) return Outcome::kGoesOn;
    const Running running = look_at_thread(lock);
    if (done_ == posted_) return Outcome::kDone;
    if (returned_ || looked_->stand != stand_now(progress)) return Outcome::kGoesOn;
    if (!waits_for_a_cpu(running, *looked_, patience)) return Outcome::kBlocked;
    looked_->since = now - (running.used - looked_->used);
    return Outcome::kGoesOn;
  }

  // It ends when it has done its jobs, and is counted until then (a count without a partner).
  void leave_behind(std::shared_ptr<std::atomic<unsigned>> count) {
    const std::lock_guard lock(mutex_);
    if (done_ != posted_) {
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
  // How far the jobs are.
  struct Stand {
    std::uint64_t begun;
    std::uint64_t progress;
    friend bool operator==(const Stand&, const Stand&) = default;
  };
  [[nodiscard]] Stand stand_now(const Progress& progress) const { return {begun_, progress.load()}; }

  // Since when it has stood there, and what it had used of a CPU by then.
  struct Seen {
    Stand stand;
    Clock::time_point since;
    std::chrono::nanoseconds used;
  };
  [[nodiscard]] Seen see(const Progress& progress) const { return {stand_now(progress), Clock::now(), cpu_used()}; }

  struct Running {
    bool could_run;
    std::chrono::nanoseconds used;
  };
  Running look_at_thread(std::unique_lock<std::mutex>& lock) const {
    const bool has_begun = begun_ != done_;
    lock.unlock();  // the thread must not wait for us meanwhile
    const Running running{!has_begun || is_runnable(tid_), cpu_used()};
    lock.lock();
    return running;
  }
  static bool waits_for_a_cpu(const Running& running, const Seen& seen, microseconds patience) {
    return running.could_run && running.used - seen.used < patience;
  }

  [[nodiscard]] std::chrono::nanoseconds cpu_used() const {
    timespec used{};
    if (tid_ != 0) ::clock_gettime(clock_, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }

  void loop() {
    std::unique_lock lock(mutex_);
    ::pthread_getcpuclockid(::pthread_self(), &clock_);
    tid_ = ::gettid();
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
      if (jobs_.empty()) break;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      ++begun_;
      lock.unlock();
      job();
      returned_ = true;
      job = nullptr;  // what it owns must not live until the next one comes
      lock.lock();
      returned_ = false;
      ++done_;
      changed_.notify_all();
    }
    if (left_behind_) --*left_behind_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // that have not begun
  std::uint64_t posted_ = 0, begun_ = 0, done_ = 0;
  bool stopped_ = false;
  std::optional<Seen> looked_;
  std::shared_ptr<std::atomic<unsigned>> left_behind_;  // as PatientWorker's: without a partner
  // The job that has begun is over, though not yet counted as done. Without a partner: what the job has written is
  // looked at by who has seen that count, under the mutex.
  std::atomic<bool> returned_ = false;
  // Written once, under the mutex, before the first job begins; 0 until then.
  std::atomic<pid_t> tid_ = 0;  // the store of it pairs with the load in cpu_used(): the clock is there
  clockid_t clock_{};
};

PatientWorker::PatientWorker() = default;

PatientWorker::~PatientWorker() {
  if (thread_) thread_->stop();
}

void PatientWorker::post(std::function<void()> job) {
  if (!thread_) {
    thread_ = std::make_shared<Thread>();
    thread_->start();
  }
  thread_->post(std::move(job));
}

PatientWorker::Outcome PatientWorker::wait(microseconds patience, microseconds longest, const Progress& progress) {
  return thread_ ? thread_->wait(patience, longest, progress) : Outcome::kDone;
}

PatientWorker::Outcome PatientWorker::look(std::chrono::microseconds patience, const Progress& progress) {
  return thread_ ? thread_->look(patience, progress) : Outcome::kDone;
}

bool PatientWorker::run(std::function<void()> job, microseconds patience) {
  const Progress none = 0;
  post(std::move(job));
  if (wait(patience, patience, none) == Outcome::kDone) return true;
  leave_behind();
  return false;
}

void PatientWorker::leave_behind() {
  if (!thread_) return;
  thread_->leave_behind(left_behind_);
  thread_.reset();
}

}  // namespace landtrace::programs
