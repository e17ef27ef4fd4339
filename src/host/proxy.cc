#include "host/proxy.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <tuple>

#include "arch/rseq.hpp"
#include "base/fd.hpp"
#include "plan/file_write.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::host {
namespace {

// The sender never had a place in the data plane, so its name is not there yet.
void leave_name(plan::DataSegment& data, std::uint32_t pid) {
  plan::TaskEntry& entry = data.tasks[pid % plan::kMaxTasks];
  if (__atomic_load_n(&entry.tid, __ATOMIC_RELAXED) == pid) return;
  auto comm = read_file("/proc/" + std::to_string(pid) + "/comm", 4096);
  if (!comm) return;  // gone already
  if (comm->ends_with('\n')) comm->pop_back();
  comm->resize(sizeof entry.comm - 1, '\0');
  __atomic_store_n(&entry.tid, 0, __ATOMIC_RELEASE);
  entry.pid = pid;
  std::memcpy(entry.comm, comm->c_str(), sizeof entry.comm);
  __atomic_store_n(&entry.tid, pid, __ATOMIC_RELEASE);
}

}  // namespace

plan::Thread* Proxy::thread_of(std::uint32_t user) {
  const auto known = threads_.find(user);
  if (known != threads_.end()) return &known->second;
  plan::DataSegment& data = domain_.users().all()[user].data();
  const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  plan::ThreadSlot* const slot = plan::claim_thread_slot(data, static_cast<std::uint32_t>(::getpid()), tid);
  if (slot == nullptr) {
    __atomic_fetch_add(&data.slotless, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  const auto clock = static_cast<arch::RawClock>(domain_.control().segment().raw_clock);
  const bool restartable = clock == arch::RawClock::kTsc && arch::rseq_usable();
  const plan::Thread place{slot, {restartable ? arch::rseq_area() : nullptr, clock}, tid, tid};
  return &threads_.emplace(user, place).first->second;
}

void Proxy::write(domain::FileId file, std::uint32_t pid, std::uint32_t uid, std::span<const std::byte> bytes) {
  const auto user = domain_.users().find_or_create(uid);
  if (!user) return;
  plan::ControlSegment& control = domain_.control().segment();
  control.user_count = static_cast<std::uint32_t>(domain_.users().all().size());
  plan::Thread* const thread = thread_of(*user);
  if (thread == nullptr) return;
  thread->tid = pid;
  plan::DataSegment& data = domain_.users().all()[*user].data();
  leave_name(data, pid);
  const plan::View view = plan::make_view(&control, &data, *user);
  const iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
  std::ignore = plan::write_file(view, *thread, {file.slot, file.generation}, &vector, 1);
}

}  // namespace landtrace::host
