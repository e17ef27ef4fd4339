#include "perf/thread_gate.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "arch/clock.hpp"

namespace landtrace::perf {
namespace {

// What one request takes; more threads than that pay for their records.
constexpr std::size_t kMost = ipc::kMaxText / sizeof(std::uint32_t);
constexpr std::uint64_t kTellAfter_ns = 5'000'000;
constexpr std::uint64_t kPruneAfter_ns = 500'000'000;

// Also another user's.
bool is_there(std::uint32_t tid) { return ::kill(static_cast<pid_t>(tid), 0) == 0 || errno != ESRCH; }

}  // namespace

void ThreadGate::leave_out(std::uint32_t tid, std::uint32_t tgid) {
  if (tid == 0 || left_out_.size() >= kMost || left_out_.contains(tid)) return;
  if (is_meant_(tid, tgid) || !is_there(tid)) return;
  left_out_.insert(tid);
  has_changed_ = true;
}

// Threads that have emitted before. What stands in data segments may be made up: it names threads, no more.
void ThreadGate::look_at_programs() {
  std::ignore = view_.map_new_users();
  for (const consumer::User& user : view_.users()) {
    const plan::DataSegment& data = user.data();
    const std::uint32_t high = std::min(__atomic_load_n(&data.thread_high, __ATOMIC_RELAXED), plan::kMaxThreads);
    for (std::uint32_t i = 0; i < high; ++i) {
      const plan::ThreadSlot& slot = data.threads[i];
      leave_out(__atomic_load_n(&slot.tid, __ATOMIC_RELAXED), __atomic_load_n(&slot.pid, __ATOMIC_RELAXED));
    }
  }
}

void ThreadGate::let_in(const Has& has) {
  has_changed_ |= std::erase_if(left_out_, has) > 0;
  if (!std::exchange(has_looked_, true)) look_at_programs();
  if (has_changed_) tell();
}

void ThreadGate::note_unwanted(std::uint32_t tid, std::uint32_t tgid) { leave_out(tid, tgid); }

void ThreadGate::renew(std::uint64_t now_ns) {
  if (now_ns - pruned_ns_ > kPruneAfter_ns) {
    pruned_ns_ = now_ns;
    has_changed_ |= std::erase_if(left_out_, [](std::uint32_t tid) { return !is_there(tid); }) > 0;
  }
  if (has_changed_ && now_ns > told_ns_ + kTellAfter_ns) tell();
}

void ThreadGate::tell() {
  // An owner that does not know the request, or has no room for the list, changes nothing but what others pay.
  std::ignore = session_.leave_out(std::vector<std::uint32_t>(left_out_.begin(), left_out_.end()));
  has_changed_ = false;
  told_ns_ = arch::monotonic_ns();
}

}  // namespace landtrace::perf
