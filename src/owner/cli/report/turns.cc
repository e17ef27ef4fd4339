#include "cli/report/turns.hpp"

namespace landtrace::cli {

bool Turns::wait_for(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  waiting_[number % waiting_.size()].wait(lock, [&] { return is_stopped_ || next_ == number; });
  return !is_stopped_;
}

void Turns::pass() {
  const std::lock_guard lock(mutex_);
  ++next_;
  waiting_[next_ % waiting_.size()].notify_one();
}

void Turns::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (auto& waiting : waiting_) waiting.notify_one();
}

}  // namespace landtrace::cli
