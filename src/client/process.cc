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

// Out of the way of programs that count on the lowest descriptors, as far as the limit lets us.
constexpr int kOwnFds[] = {700, 200, 60, 20, 3};
constexpr int kPatience_s = 3;
constexpr std::uint64_t kGiveUpFor_ns = 10'000'000'000;
// A thread that found no place looks again after this many events.
constexpr std::uint32_t kSilentEvents = 4096;

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
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    pthread_mutex_lock(&mutex_);
  }
  ~Locked() {
    pthread_mutex_unlock(&mutex_);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SignalsBlocked signals_;
  int cancel_state_ = 0;
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
  if (page_ == nullptr || !is_attached()) return nullptr;
  if (local.searching || local.silent_for > 0) {
    if (local.silent_for > 0) --local.silent_for;
    __atomic_fetch_add(&view_.data->slotless, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  local.searching = true;
  const int saved_errno = errno;
  adopt();
  const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  const bool foreign = page_->foreign;
  plan::ThreadSlot* const slot = plan::claim_thread_slot(*view_.data, foreign ? 0 : page_->pid, tid);
  if (slot == nullptr) {
    __atomic_fetch_add(&view_.data->slotless, 1, __ATOMIC_RELAXED);
    local.silent_for = kSilentEvents;
  } else {
    const auto clock = static_cast<arch::RawClock>(view_.control->raw_clock);
    const bool restartable = !portable_ && clock == arch::RawClock::kTsc && arch::rseq_usable();
    local.place = {
        slot, {restartable ? arch::rseq_area() : nullptr, clock}, tid, foreign ? tid | plan::kForeignClaim : tid};
    local.generation = page_->generation;
    local.page = page_;
  }
  errno = saved_errno;
  local.searching = false;
  return slot == nullptr ? nullptr : &local.place;
}

int Process::control_fd() const {
  const int known = page_ == nullptr ? -1 : page_->socket_plus_one - 1;
  return known >= 0 && inode_of(known) == page_->socket_inode ? known : -1;
}

// The connection's descriptor, made where there is none, or a negative errno.
int Process::control_connection() {
  if (const int known = control_fd(); known >= 0) return known;
  int fd = ipc::connect_plain(socket_path_, true);
  if (fd < 0) return fd;
  const std::int64_t owner = ipc::peer_uid(fd);
  if (owner != 0 && owner != std::int64_t{::geteuid()}) {
    ::close(fd);
    return -EPERM;
  }
  for (const int lowest : kOwnFds) {
    const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (high < 0) continue;
    ::close(fd);
    fd = high;
    break;
  }
  ipc::set_timeout(fd, kPatience_s);
  page_->socket_inode = inode_of(fd);
  page_->socket_plus_one = fd + 1;
  return fd;
}

bool Process::is_given_up() const { return given_up_until_ns_ != 0 && arch::monotonic_ns() < given_up_until_ns_; }

// A connection on which an answer may still come is not used again.
void Process::note_answer(int error) {
  if (error != EAGAIN && error != ETIMEDOUT) return;
  given_up_until_ns_ = arch::monotonic_ns() + kGiveUpFor_ns;
  if (const int fd = control_fd(); fd >= 0) ::shutdown(fd, SHUT_RDWR);
  page_->socket_plus_one = 0;
}

Result<ipc::Answer> Process::ask(const ipc::Request& request, std::string_view text) {
  if (page_ == nullptr) return fail(ENOTSUP, "this kernel has no MADV_WIPEONFORK");
  const Locked lock(page_->asking);
  if (is_given_up()) return fail(ETIMEDOUT, "the owner of the domain does not answer");
  const int fd = control_connection();
  if (fd < 0) return fail(-fd, "no connection to the owner of the domain");
  auto answer = ipc::ask(fd, request, text);
  if (!answer) note_answer(answer.error().code);
  return answer;
}

ipc::PlainAnswer Process::ask_plain(const ipc::Request& request) {
  if (page_ == nullptr) return {ENOTSUP, {}};
  const Locked lock(page_->asking);
  if (is_given_up()) return {ETIMEDOUT, {}};
  const int fd = control_connection();
  if (fd < 0) return {-fd, {}};
  const ipc::PlainAnswer answer = ipc::ask_plain(fd, request);
  note_answer(answer.error);
  return answer;
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
  __atomic_store_n(&view_.control, reinterpret_cast<const plan::ControlSegment*>(control->release()), __ATOMIC_RELEASE);
  return true;
}

bool Process::attach() {
  if (is_attached()) return true;
  const std::string path = ipc::default_socket();
  if (path.size() >= sizeof socket_path_) return false;
  std::memcpy(socket_path_, path.c_str(), path.size() + 1);
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
