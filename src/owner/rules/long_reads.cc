#include "rules/long_reads.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <new>
#include <optional>

namespace landtrace::rules {

// `source` and `text` are looked at with the domain held; make() is the exception.
struct LongReads::Task {
  std::unique_ptr<Source> source;
  std::stop_source given_up;
  std::optional<Result<std::string>> text;
};

struct LongReads::Queue {
  explicit Queue(Domain& domain_in) : domain(domain_in) {}

  Domain& domain;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Task>> waiting;
  std::shared_ptr<Task> running;
  bool is_ending = false;
};

namespace {

Result<std::string> made(LongReads::Source& source, const std::stop_token& given_up) {
  try {
    return source.make(given_up);
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM, "there is no memory for so much text");
  }
}

}  // namespace

LongReads::Awaited::Awaited(std::shared_ptr<Queue> queue, std::shared_ptr<Task> task)
    : queue_(std::move(queue)), task_(std::move(task)) {}

// What has not begun goes at once; what is being made goes when its thread sees that it is given up.
LongReads::Awaited::~Awaited() {
  task_->given_up.request_stop();
  {
    const std::lock_guard lock(queue_->mutex);
    if (std::erase(queue_->waiting, task_) == 0) return;
  }
  const auto access = queue_->domain.enter();
  task_->source.reset();
}

bool LongReads::Awaited::is_there() const { return task_->text.has_value(); }

Result<std::string> LongReads::Awaited::take() { return *std::exchange(task_->text, std::nullopt); }

LongReads::LongReads(Domain& domain) : domain_(domain), queue_(std::make_shared<Queue>(domain)) {}

LongReads::~LongReads() {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->is_ending = true;
    if (queue_->running) queue_->running->given_up.request_stop();
  }
  queue_->changed.notify_one();
  if (thread_.joinable()) thread_.join();
  const auto access = domain_.enter();
  for (const auto& task : std::exchange(queue_->waiting, {})) {
    task->source.reset();
    task->text = fail(ESHUTDOWN, "the domain ends");
  }
}

std::unique_ptr<LongReads::Awaited> LongReads::begin(std::unique_ptr<Source> source) {
  if (!thread_.joinable()) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  auto task = std::make_shared<Task>();
  task->source = std::move(source);
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->waiting.push_back(task);
  }
  queue_->changed.notify_one();
  return std::make_unique<Awaited>(queue_, std::move(task));
}

void LongReads::run() {
  std::unique_lock lock(queue_->mutex);
  while (true) {
    queue_->changed.wait(lock, [this] { return queue_->is_ending || !queue_->waiting.empty(); });
    if (queue_->is_ending) return;
    const auto task = queue_->waiting.front();
    queue_->waiting.pop_front();
    queue_->running = task;
    lock.unlock();
    carry_out(*task);
    lock.lock();
    queue_->running.reset();
  }
}

void LongReads::carry_out(Task& task) {
  auto text = made(*task.source, task.given_up.get_token());
  const auto access = domain_.enter();
  task.source.reset();
  if (!task.given_up.stop_requested()) task.text = std::move(text);
  domain_.wake_server();
}

}  // namespace landtrace::rules
