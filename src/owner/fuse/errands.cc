#include "fuse/errands.hpp"

#include <algorithm>
#include <condition_variable>
#include <vector>

#include "fuse/answer.hpp"
#include "fuse/mounted_tree.hpp"

namespace landtrace::fuse {

// Shared with its thread, which may be in the caller's memory long after the request was answered, and after the
// domain is gone.
//
// Three may answer it, and one does (is_answered_): its thread, an interruption, and the end of the mount. While the
// thread works in the domain (is_at_work_) the others keep away: an interruption leaves the answer to it, and the end
// waits for it, as the domain and the courier are gone after that.
class Errands::Errand {
 public:
  Errand(fuse_req_t request, domain::DataCall call, Courier& courier)
      : request_(request), call_(std::move(call)), courier_(courier) {}

  void run() {
    go();
    has_returned_ = true;
  }
  // Answers it, unless it is answered. It does not use the domain or the courier after this.
  void give_up(int error) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_at_work_; });
    if (!is_answered_) answer_now(error);
  }
  void give_up_if_interrupted() {
    const std::lock_guard lock(mutex_);
    if (!is_at_work_ && !is_answered_ && fuse_req_interrupted(request_) != 0) answer_now(EINTR);
  }
  void watch_interruption() {
    const std::lock_guard lock(mutex_);
    if (is_answered_) return;
    fuse_req_interrupt_func(
        request_, [](fuse_req_t interrupted, void*) { tree_of(interrupted).courier.poke(); }, nullptr);
  }
  [[nodiscard]] bool has_returned() const { return has_returned_; }
  [[nodiscard]] std::uint32_t pid() const { return call_.pid(); }

 private:
  void go() {
    const Result<void> read = call_.read();
    {
      const std::lock_guard lock(mutex_);
      if (is_answered_) return;
      is_at_work_ = true;
    }
    // While is_at_work_ is set, the domain and the courier are sure to be there.
    const Result<int> result = read ? call_.carry_out() : tl::unexpected<Error>(read.error());
    if (result) courier_.wait_for_pages();
    {
      const std::lock_guard lock(mutex_);
      is_at_work_ = false;
    }
    changed_.notify_all();
    // Writes the result into the caller's memory, which may take as long as reading it.
    call_.answer();
    const std::lock_guard lock(mutex_);
    if (is_answered_) return;
    if (!result) return answer_now(result.error().code);
    fuse_reply_ioctl(request_, *result, nullptr, 0);
    is_answered_ = true;
  }
  void answer_now(int error) {
    answer_error(request_, error);
    is_answered_ = true;
  }

  fuse_req_t request_;
  domain::DataCall call_;
  Courier& courier_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_at_work_ = false;
  bool is_answered_ = false;
  // The store at the end of run() pairs with the load in has_returned(): the errand touches nothing any more.
  std::atomic<bool> has_returned_ = false;
};

void Errands::send(fuse_req_t request, domain::DataCall call) {
  const std::uint32_t pid = call.pid();
  const auto errand = std::make_shared<Errand>(request, std::move(call), courier_);
  bool are_many = false;
  bool has_one = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(left_behind_, [](const auto& other) { return other->has_returned(); });
    are_many = left_behind_.size() >= kManyLeftBehind;
    has_one =
        std::any_of(left_behind_.begin(), left_behind_.end(), [&](const auto& other) { return other->pid() == pid; });
  }
  if (are_many && has_one) return errand->give_up(EFAULT);
  if (worker_.run([errand] { errand->run(); }, are_many ? kLongPatience : kPatience)) return;
  {
    const std::lock_guard lock(mutex_);
    left_behind_.push_back(errand);
  }
  if (are_many) return errand->give_up(EFAULT);
  errand->watch_interruption();
}

void Errands::serve_interrupted() {
  const std::lock_guard lock(mutex_);
  for (const auto& errand : left_behind_) errand->give_up_if_interrupted();
}

void Errands::stop() {
  std::vector<std::shared_ptr<Errand>> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(left_behind_.begin(), left_behind_.end());
    left_behind_.clear();
  }
  for (const auto& errand : all) errand->give_up(ENOTCONN);
}

}  // namespace landtrace::fuse
