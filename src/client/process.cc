#include "client/process.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/mapping.hpp"
#include "ipc/path.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::client {
namespace {

// Out of the way of programs that count on the lowest descriptors.
constexpr int kLowestOwnFd = 700;

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SignalsBlocked signals_;
  pthread_mutex_t& mutex_;
};

ForkPage* make_fork_page() {
  constexpr std::size_t kBytes = 4096;
  void* const page = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, kBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kBytes);
    return nullptr;
  }
  return static_cast<ForkPage*>(page);
}

std::uint64_t pid_namespace() {
  struct stat st {};
  return ::stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

std::uint64_t inode_of(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

}  // namespace

constinit plan::View Process::view_{};
constinit thread_local LocalThread Process::local_{};

Process::Process() : page_(make_fork_page()) {
  const char* const writer = ::secure_getenv("LANDTRACE_WRITER");
  portable_ = writer != nullptr && std::strcmp(writer, "portable") == 0;
}

Process& Process::get() {
  // Never destroyed: threads may emit until the very end of the process.
  alignas(Process) static char storage[sizeof(Process)];
  static Process* const process = new (storage) Process;
  return *process;
}

// The page is this process's own from here on: after attaching, and in a child at its first use.
void Process::adopt() {
  if (__atomic_load_n(&page_->generation, __ATOMIC_ACQUIRE) != 0) return;
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
  __atomic_store_n(&page_->pid, static_cast<std::uint32_t>(::getpid()), __ATOMIC_RELAXED);
  __atomic_store_n(&page_->foreign, attached_foreign_ || pid_namespace() != namespace_, __ATOMIC_RELAXED);
  const std::uint64_t generation = __atomic_add_fetch(&last_generation_, 1, __ATOMIC_RELAXED);
  std::uint64_t none = 0;
  __atomic_compare_exchange_n(&page_->generation, &none, generation, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

plan::Thread* Process::find_thread(LocalThread& local) {
  if (page_ == nullptr || !is_attached() || local.searching) return nullptr;
  local.searching = true;
  const int saved_errno = errno;
  adopt();
  const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  const bool foreign = page_->foreign;
  plan::ThreadSlot* const slot = plan::claim_thread_slot(*view_.data, foreign ? 0 : page_->pid, tid);
  if (slot == nullptr) {
    __atomic_fetch_add(&view_.data->slotless, 1, __ATOMIC_RELAXED);
  } else {
    const auto clock = static_cast<arch::RawClock>(view_.control->raw_clock);
    const bool restartable = !portable_ && clock == arch::RawClock::kTsc && arch::rseq_usable();
    local.place = {slot, {restartable ? arch::rseq_area() : nullptr, clock}, tid,
                   foreign ? tid | plan::kForeignClaim : tid};
    local.generation = page_->generation;
    local.page = page_;
  }
  errno = saved_errno;
  local.searching = false;
  return slot == nullptr ? nullptr : &local.place;
}

Result<int> Process::control_connection() {
  const int known = page_->socket_plus_one - 1;
  if (known >= 0 && inode_of(known) == page_->socket_inode) return known;
  LT_TRY(Fd fd, ipc::connect_to(ipc::default_socket()));
  const int high = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowestOwnFd);
  if (high >= 0) fd = Fd(high);
  page_->socket_inode = inode_of(fd.get());
  page_->socket_plus_one = fd.get() + 1;
  return fd.release();
}

Result<ipc::Answer> Process::ask(const ipc::Request& request, std::string_view text) {
  if (page_ == nullptr) return fail(ENOTSUP, "this kernel has no MADV_WIPEONFORK");
  const Locked lock(page_->asking);
  LT_TRY(const int fd, control_connection());
  return ipc::ask(fd, request, text);
}

bool Process::map_segments(ipc::Answer& answer) {
  if (!check_sealed_memfd(answer.fds[0].get(), plan::kControlBytes) ||
      !check_sealed_memfd(answer.fds[1].get(), answer.reply.b)) {
    return false;
  }
  auto control = Mapping::map(answer.fds[0].get(), plan::kControlBytes, Mapping::Access::kReadOnly);
  auto data = Mapping::map(answer.fds[1].get(), answer.reply.b, Mapping::Access::kReadWrite);
  if (!control || !data) return false;
  const auto* const segment = reinterpret_cast<const plan::ControlSegment*>(control->data());
  if (segment->magic != plan::kControlMagic || segment->version != plan::kLayoutVersion) return false;
  const auto view = plan::make_view(segment, reinterpret_cast<plan::DataSegment*>(data->release()),
                                    static_cast<std::uint32_t>(answer.reply.a));
  view_.data = view.data;
  view_.consumed_row = view.consumed_row;
  // Last, because is_attached() looks at it; pairs with nothing stronger than the program's own synchronisation.
  __atomic_store_n(&view_.control, reinterpret_cast<const plan::ControlSegment*>(control->release()),
                   __ATOMIC_RELEASE);
  return true;
}

bool Process::attach() {
  if (is_attached()) return true;
  auto answer = ask({.operation = ipc::Operation::kAttach});
  if (!answer || !answer->fds[0] || !answer->fds[1]) return false;
  if (is_attached()) return true;  // another thread was faster
  namespace_ = pid_namespace();
  attached_foreign_ = answer->reply.c != static_cast<std::uint64_t>(::getpid());
  if (!map_segments(*answer)) return false;
  adopt();
  return true;
}

}  // namespace landtrace::client
