#include "programs/sender_names.hpp"

#include <atomic>
#include <cstring>

#include "arch/clock.hpp"
#include "base/fd.hpp"
#include "programs/task.hpp"

namespace landtrace::programs {

std::optional<std::string> SenderNames::read_comm(std::uint32_t tid) {
  auto comm = read_file("/proc/" + std::to_string(tid) + "/comm", 4096);
  if (!comm) return std::nullopt;
  if (comm->ends_with('\n')) comm->pop_back();
  return *std::move(comm);
}

void SenderNames::leave(plan::DataSegment& data, std::uint32_t tid) {
  plan::TaskEntry& entry = data.tasks[tid % plan::kMaxTasks];
  if (__atomic_load_n(&entry.tid, __ATOMIC_RELAXED) == tid) return;
  Nameless& known = nameless_[tid % nameless_.size()];
  if (known.tid == tid && arch::monotonic_ns() < known.until_ns) return;
  auto comm = read_(tid);
  if (!comm) {
    known = {tid, arch::monotonic_ns() + kPause_ns};
    return;
  }
  comm->resize(sizeof entry.comm - 1, '\0');
  // Readers (buffer) take the entry only if `tid` is the same before and after: while the name changes it is nobody's.
  // The fence pairs with that in copy_entry(), buffer/task_names.cc, and the store at the end with the acquire load
  // there.
  __atomic_store_n(&entry.tid, 0, __ATOMIC_RELAXED);
  std::atomic_thread_fence(std::memory_order_release);
  entry.pid = process_of(tid);
  std::memcpy(entry.comm, comm->c_str(), sizeof entry.comm);
  __atomic_store_n(&entry.tid, tid, __ATOMIC_RELEASE);
}

}  // namespace landtrace::programs
