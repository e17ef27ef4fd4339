#include "domain/grace.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <thread>

#include "plan/section.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::domain {
namespace {

constexpr std::size_t kMaxBatches = 4;
constexpr auto kCheckInterval = std::chrono::seconds(1);

// Every running thread of an attached process passes a full barrier: its earlier stores are visible, and its later
// loads see what was published. A thread that is not running passed one when it was switched out.
void barrier_everywhere() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0) return;
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  // No membarrier (a sandbox): no store buffer holds anything back for as long as this.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace

void Grace::after_readers(std::function<void()> free) { fresh_.push_back(std::move(free)); }

std::vector<Grace::Inside> Grace::look_for_readers() const {
  std::vector<Inside> inside;
  for (const User& user : users_.all()) {
    const plan::DataSegment& data = user.data();
    const std::uint32_t high = std::min(__atomic_load_n(&data.thread_high, __ATOMIC_RELAXED), plan::kMaxThreads);
    for (std::uint32_t i = 0; i < high; ++i) {
      const plan::ThreadSlot& slot = data.threads[i];
      // Pairs with the release store in ~Section(), plan/section.hpp: what a thread outside has read, it has read.
      const std::uint64_t section = __atomic_load_n(&slot.section, __ATOMIC_ACQUIRE);
      if ((section & plan::kDepthMask) == 0) continue;
      inside.push_back(
          {&slot, section, __atomic_load_n(&slot.pid, __ATOMIC_RELAXED), __atomic_load_n(&slot.tid, __ATOMIC_RELAXED)});
    }
  }
  return inside;
}

// Beyond some batches the new frees join the last one, and all of it waits for who is inside now: waiting longer than
// necessary is always safe.
void Grace::queue_fresh() {
  if (fresh_.empty()) return;
  barrier_everywhere();
  if (waiting_.size() < kMaxBatches) waiting_.emplace_back();
  Waiting& last = waiting_.back();
  std::move(fresh_.begin(), fresh_.end(), std::back_inserter(last.frees));
  fresh_.clear();
  last.inside = look_for_readers();
}

bool Grace::poll() {
  queue_fresh();
  const auto now = std::chrono::steady_clock::now();
  for (Waiting& waiting : waiting_) {
    const bool check_lives = now >= waiting.next_check;
    if (check_lives) waiting.next_check = now + kCheckInterval;
    std::erase_if(waiting.inside, [check_lives](const Inside& reader) {
      // Pairs as above.
      const std::uint64_t section = __atomic_load_n(&reader.slot->section, __ATOMIC_ACQUIRE);
      const bool left =
          (section & plan::kDepthMask) == 0 || (section & ~plan::kDepthMask) != (reader.section & ~plan::kDepthMask);
      return left || reader.tid == 0 || (check_lives && plan::thread_is_gone(reader.pid, reader.tid));
    });
  }
  while (!waiting_.empty() && waiting_.front().inside.empty()) {
    for (const auto& free : waiting_.front().frees) free();
    waiting_.pop_front();
  }
  return !waiting_.empty() || !fresh_.empty();
}

void Grace::settle(std::chrono::milliseconds limit) {
  after_readers([] {});  // there is something to wait for, also where nothing is to be freed
  drain(limit);
}

bool Grace::drain(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (poll()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

}  // namespace landtrace::domain
