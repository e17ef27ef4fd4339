#include "client/process.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "arch/kept_vectors.hpp"
#include "base/system_call.hpp"
#include "client/barrier_thread.hpp"
#include "client/locked.hpp"
#include "client/owner_trace.hpp"
#include "client/signals_held_back.hpp"
#include "client/tsc_guard.hpp"
#include "ipc/path.hpp"
#include "plan/section.hpp"
#include "plan/thread_slots.hpp"

// Of glibc, from 2.32 on: false once there has been a second thread.
extern "C" {
extern char __libc_single_threaded __attribute__((weak));
}

namespace landtrace::client {
namespace {

// Out of the way of programs that count on the lowest descriptors, as far as the limit lets us.
constexpr int kOwnFds[] = {700, 200, 60, 20, 3};
// Every process has room for so many.
constexpr int kLeastRoom = 64;
constexpr int kPatience_ms = 3'000;
constexpr std::uint64_t kGiveUpFor_ns = 10'000'000'000;
// In the middle of somebody's write.
constexpr int kShortPatience_ms = 100;
constexpr unsigned kMaxSilentLooks = 9;  // 10 s
constexpr std::uint64_t kLookAgain_ns = Process::kLookAgain_ms * 1'000'000ull;
// A thread that found no place looks again after this many events.
constexpr std::uint32_t kSilentEvents = 4096;

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

bool has_threads() { return &__libc_single_threaded != nullptr && __libc_single_threaded == 0; }

// Descriptors below this need no larger table. Where threads share it the kernel takes some 10 ms to replace it.
int room_for_descriptors() {
  if (!has_threads()) return INT_MAX;
  const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kLeastRoom;
  char text[1024];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[std::max<ssize_t>(size, 0)] = '\0';
  const char* const line = std::strstr(text, "\nFDSize:");
  return line == nullptr ? kLeastRoom : std::max(kLeastRoom, std::atoi(line + std::strlen("\nFDSize:")));
}

std::uint64_t pid_namespace() {
  struct stat st {};  // the call is libc's own for it: a filter that knows the program lets it pass
  return system_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0 ? st.st_ino : 0;
}

std::uint64_t inode_of(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

// A hash of the bytes that the kernel gives each program that it starts, and not these: they are the program's secret.
std::uint32_t program_number() {
  constexpr std::size_t kSize = 16;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(::getauxval(AT_RANDOM));
  if (bytes == nullptr) return 0;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (std::size_t i = 0; i < kSize; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return static_cast<std::uint32_t>(hash >> 32) | 1;
}

}  // namespace

constinit Attachment* Process::current_ = nullptr;
constinit Process::Barriers Process::barriers_ = Process::Barriers::kNone;
constinit thread_local LocalThread Process::local_{};

Process::Process() : page_(make_fork_page()), program_(program_number()) {
  const char* const writer = ::secure_getenv("LANDTRACE_WRITER");
  portable_ = writer != nullptr && std::strcmp(writer, "portable") == 0;
  const char* const handlers = ::secure_getenv("LANDTRACE_SIGNAL_HANDLERS");
  has_handlers_ = handlers == nullptr || std::strcmp(handlers, "0") != 0;
}

Process& Process::get() {
  // Never destroyed: threads may emit until the very end of the process.
  alignas(Process) static char storage[sizeof(Process)];
  static Process* const process = new (storage) Process;
  return *process;
}

namespace {
// When the program starts, or the library is loaded: with threads it would take long, and not every program attaches.
__attribute__((constructor)) void register_early() {
  if (!has_threads()) Process::register_for_barriers();
}
}  // namespace

void Process::register_for_barriers() {
  if (__atomic_load_n(&barriers_, __ATOMIC_RELAXED) == Barriers::kRegistered) return;
  system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
  // Before the look at the slots: pairs with the exchange of the two in find_place(), so that either this thread finds
  // the flag or that one finds this word.
  __atomic_exchange_n(&barriers_, Barriers::kRegistered, __ATOMIC_SEQ_CST);
  if (is_attached()) get().settle_slots();
}

// Takes the flags back that this process's threads have set meanwhile.
void Process::settle_slots() {
  for (Attachment* attachment = current(); attachment != nullptr; attachment = attachment->before) {
    const std::uint32_t high = __atomic_load_n(&attachment->view.data->thread_high, __ATOMIC_RELAXED);
    for (std::uint32_t i = 0; i < std::min(high, plan::kMaxThreads); ++i) {
      // Pairs with the fence in find_place().
      plan::ThreadSlot* const slot = __atomic_load_n(&attachment->places[i].thread.slot, __ATOMIC_SEQ_CST);
      // A place that a dead thread has left says nothing about whoever has the slot now.
      if (slot == nullptr || slot->pid != (page_->foreign ? 0 : page_->pid)) continue;
      if (slot->tid != attachment->places[i].thread.tid) continue;
      // Pairs with the acquire load in is_unregistered(), segments/grace.cc.
      __atomic_store_n(&slot->unregistered, 0, __ATOMIC_RELEASE);
    }
  }
}

void Process::prepare_barriers() {
  if (barriers_ != Barriers::kNone) return;
  if (has_threads()) {
    __atomic_store_n(&registering_pid_, static_cast<std::uint32_t>(::getpid()), __ATOMIC_RELAXED);
    __atomic_store_n(&barriers_, Barriers::kPending, __ATOMIC_RELAXED);
    if (start_barrier_thread()) return;
  }
  register_for_barriers();
}

void Process::set_time_source(arch::TimeSource source) {
  arch::time_source = source;
  // The places are not constant; a thread's own is nobody else's.
  if (source != arch::TimeSource::kCounter && local_.place != nullptr) {
    const_cast<Place*>(local_.place)->thread.mode.area = nullptr;
  }
}

// The page is this process's own from here on: after attaching, and in a child at its first use.
void Process::adopt() {
  // Pairs with the exchange below, in another thread: the page's pid is there.
  if (__atomic_load_n(&page_->generation, __ATOMIC_ACQUIRE) != 0) return;
  const auto pid = static_cast<std::uint32_t>(system_call(SYS_getpid));
  // Not while a thread of ours is at it; a child does not have its parent's.
  const bool pending = __atomic_load_n(&barriers_, __ATOMIC_RELAXED) == Barriers::kPending;
  if (!pending || __atomic_load_n(&registering_pid_, __ATOMIC_RELAXED) != pid) register_for_barriers();
  // A vfork child that is the first to attach has its parent's page, whose memory it stays.
  if (__atomic_load_n(&page_->pid, __ATOMIC_RELAXED) == 0) __atomic_store_n(&page_->pid, pid, __ATOMIC_RELAXED);
  __atomic_store_n(&page_->foreign, current()->foreign || pid_namespace() != namespace_, __ATOMIC_RELAXED);
  const std::uint64_t generation = __atomic_add_fetch(&last_generation_, 1, __ATOMIC_RELAXED);
  std::uint64_t none = 0;
  // Publishes pid and foreign, of which threads that come here at once store the same. Pairs with the acquire loads of
  // the generation, above and in find_place().
  __atomic_compare_exchange_n(&page_->generation, &none, generation, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void Process::note_process() {
  if (page_ != nullptr) {
    __atomic_store_n(&page_->pid, static_cast<std::uint32_t>(system_call(SYS_getpid)), __ATOMIC_RELAXED);
  }
}

// With a slot of the thread's own; nullptr: there is none. `restartable`: the thread has restartable sequences.
Place* Process::claim_place(Attachment& attachment, std::uint32_t pid, std::uint32_t tid, bool restartable) {
  const plan::View& view = attachment.view;
  const bool foreign = page_->foreign;
  plan::ThreadSlot* const slot = plan::claim_thread_slot(*view.data, foreign ? 0 : pid, tid, program_);
  if (slot == nullptr) return nullptr;
  const auto clock = static_cast<arch::RawClock>(view.control->raw_clock);
  if (counter_is_off()) arch::time_source = arch::TimeSource::kCalls;
  restartable = restartable && !portable_ && clock == arch::RawClock::kTsc && arch::rseq_usable() &&
                arch::time_source == arch::TimeSource::kCounter;
  Place* const place = &attachment.places[slot - view.data->threads];
  const bool registered = __atomic_load_n(&barriers_, __ATOMIC_RELAXED) == Barriers::kRegistered;
  __atomic_store_n(&slot->unregistered, registered ? 0 : 1, __ATOMIC_RELAXED);
  place->thread = {
      slot, {restartable ? arch::rseq_area() : nullptr, clock}, tid, foreign ? tid | plan::kForeignClaim : tid};
  place->view = view;
  // The flag is seen before any plan is loaded, and the place before the word is looked at: pairs with the exchange
  // in register_for_barriers(), and with the owner's look at the slots.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!registered && __atomic_load_n(&barriers_, __ATOMIC_SEQ_CST) == Barriers::kRegistered) {
    // Pairs with the acquire load in is_unregistered(), segments/grace.cc.
    __atomic_store_n(&slot->unregistered, 0, __ATOMIC_RELEASE);
  }
  return place;
}

// Of a child that runs in the place of its parent's thread, whose own place it leaves alone. The kernel does not know
// the thread's restartable sequences as the child's.
const Place* Process::find_place_of_child(LocalThread& local, Attachment& attachment, std::uint32_t pid,
                                          std::uint32_t tid) {
  const Place* const known = local.place_of_child;
  const bool is_own = known != nullptr && local.parent_of_child == page_->pid &&
                      known->view.data == attachment.view.data && known->thread.tid == tid &&
                      // Pairs with the swaps of claim_thread_slot() and free_dead_thread_slots().
                      __atomic_load_n(&known->thread.slot->tid, __ATOMIC_ACQUIRE) == tid;
  if (!is_own) {
    // For the memory, which is the parent's: nobody would take the flag of the child's slot back, see settle_slots().
    if (__atomic_load_n(&barriers_, __ATOMIC_RELAXED) == Barriers::kPending) register_for_barriers();
    local.place_of_child = claim_place(attachment, pid, tid, false);
    local.parent_of_child = page_->pid;
  }
  return local.place_of_child;
}

const Place* Process::find_place(LocalThread& local) {
  if (page_ == nullptr || !is_attached()) return nullptr;
  const auto without = [&] {
    __atomic_fetch_add(&view().data->slotless, 1, __ATOMIC_RELAXED);
    return nullptr;
  };
  if (!arch::may_call()) return without();
  if (local.silent_for > 0) {
    --local.silent_for;
    return without();
  }
  const auto tid = static_cast<std::uint32_t>(system_call(SYS_gettid));
  if (local.searching == tid) return without();
  const arch::AllVectorsKept vectors;
  // System calls alone from here on: a function of libc may be probed, and would be an event without a place. And no
  // handler of a signal, which might never come back.
  const SignalsHeldBack signals;
  local.searching = tid;
  adopt();
  // Pairs with the release store in switch_to() and the exchange in adopt(). Before the attachment, in this order: with
  // an earlier owner's number and the segments of the next one the thread only looks for its place once more.
  const std::uint64_t generation = __atomic_load_n(&page_->generation, __ATOMIC_ACQUIRE);
  Attachment& attachment = *current();
  const auto pid = static_cast<std::uint32_t>(system_call(SYS_getpid));
  const Place* place = nullptr;
  if (is_other_process(pid)) {
    place = find_place_of_child(local, attachment, pid, tid);
  } else {
    const bool has_place = local.place != nullptr && local.generation == generation;
    place = has_place ? local.place : claim_place(attachment, page_->pid, tid, true);
    if (place != nullptr) {
      local.place = place;
      local.generation = generation;
      // Where expect_child() was called a first place changes nothing: the child may still come. No partners: the child
      // that may write here runs while the thread does not.
      if (local.expects == 0) {
        local.page = page_;
      } else if (local.expects != kUntilGone) {
        --local.expects;
      }
    }
  }
  if (place == nullptr) {
    __atomic_fetch_add(&attachment.view.data->slotless, 1, __ATOMIC_RELAXED);
    // Not for its parent, which has a place.
    if (!is_other_process(pid)) local.silent_for = kSilentEvents;
  }
  local.searching = 0;
  return place;
}

void Process::expect_child(std::uint32_t events) {
  LocalThread& local = local_;
  Process& process = get();
  // The page is to be this process's, and not the child's.
  if (is_attached() && process.page_ != nullptr) process.adopt();
  // The child before has gone from this memory, and might not end for long. Not where this process was forked since:
  // by now its parent may have given the slot back, and that child, which is a program of its own, may have it again.
  const Place* const old = std::exchange(local.place_of_child, nullptr);
  // Nor where one that runs beside its parent is in the middle of an event.
  const bool is_inside =
      old != nullptr && (__atomic_load_n(&old->thread.slot->section, __ATOMIC_RELAXED) & plan::kDepthMask) != 0;
  if (old != nullptr && !is_inside && local.parent_of_child == process.page_->pid) {
    plan::give_thread_slot_back(*old->thread.slot, old->thread.tid);
  }
  local.expects = events;
  local.page = &kNoForkPage;
}

void Process::child_is_gone() {
  LocalThread& local = local_;
  const Process& process = get();
  local.expects = 0;
  if (process.page_ == nullptr || local.place == nullptr || local.generation != process.page_->generation) return;
  // Not in a child that has made one itself.
  if (!process.is_other_process(static_cast<std::uint32_t>(system_call(SYS_getpid)))) local.page = process.page_;
}

int Process::control_fd() const {
  const int known = page_ == nullptr ? -1 : connection().socket_plus_one - 1;
  return known >= 0 && inode_of(known) == connection().socket_inode ? known : -1;
}

void Process::drop_connection() {
  const int fd = control_fd();
  connection().socket_plus_one = 0;
  if (fd >= 0) ::close(fd);
}

// A connection with an owner whom we may trust, or a negative errno.
int Process::connect(int patience_ms) {
  // By the file's owner first: one whom we do not trust need not even answer.
  if (!ipc::is_trusted_socket(socket_path_)) return -EPERM;
  int fd = ipc::connect_plain(socket_path_, true, patience_ms);
  if (fd < 0) return fd;
  if (!ipc::is_trusted_peer(fd)) {
    ::close(fd);
    return -EPERM;
  }
  const int room = room_for_descriptors();
  for (const int lowest : kOwnFds) {
    if (lowest >= room) continue;
    const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (high < 0) continue;
    ::close(fd);
    fd = high;
    break;
  }
  ipc::set_timeout(fd, patience_ms);
  return fd;
}

// Asks who answers on a new connection, and makes that the process's owner. 0 or an errno.
int Process::meet_owner(int fd) {
  int fds[2];
  const ipc::PlainAnswer answer = ipc::ask_plain(fd, {.operation = ipc::Operation::kAttach}, &fds);
  const bool joined = answer.error == 0 && switch_to(answer.reply, fds);
  for (const int memory : fds) {
    if (memory >= 0) ::close(memory);
  }
  return answer.error == 0 && !joined ? EPROTO : answer.error;
}

// The connection's descriptor, made where there is none, or a negative errno.
int Process::control_connection(int patience_ms) {
  if (const int known = control_fd(); known >= 0) return known;
  if (local_.is_apart && is_orphaned()) return -ECONNREFUSED;
  const int fd = connect(patience_ms);
  if (fd < 0) return fd;
  // One that lives is not met again: a connection was lost, or this is a child's first.
  const bool known_owner = is_attached() && !is_orphaned();
  if (const int error = known_owner ? 0 : meet_owner(fd); error != 0) {
    ::close(fd);
    return -error;
  }
  ipc::set_timeout(fd, kPatience_ms);
#ifndef LANDTRACE_AGENT
  let_owner_trace(fd);
#endif
  connection().socket_inode = inode_of(fd);
  connection().socket_plus_one = fd + 1;
  return fd;
}

// With page_->asking held.
bool Process::switch_to(const ipc::Reply& reply, const int (&fds)[2]) {
  Attachment* const old = current();
  if (old != nullptr && old->control_inode == inode_of_memory(fds[0])) return true;
  Attachment* const next = make_attachment(reply, fds, old);
  if (next == nullptr) return false;
  arch::set_counter_line(&next->view.control->counter_line);
  if (old == nullptr) {
    namespace_ = pid_namespace();
    if (has_handlers_) install_tsc_guard();
    // Pairs with the acquire load in current().
    __atomic_store_n(&current_, next, __ATOMIC_RELEASE);
    adopt();
    const auto pid = static_cast<std::uint32_t>(system_call(SYS_getpid));
    if (!page_->foreign) plan::free_slots_before_exec(*next->view.data, pid, program_);
    return true;
  }
  if (on_next_owner_ != nullptr) on_next_owner_(static_cast<std::uint32_t>(reply.c));
  __atomic_store_n(&page_->foreign, next->foreign || pid_namespace() != namespace_, __ATOMIC_RELAXED);
  // Pairs with the acquire load in current().
  __atomic_store_n(&current_, next, __ATOMIC_RELEASE);
  // Pairs with the acquire load in find_place(): a thread that sees the number finds the attachment. A fresh child that
  // has no number yet gets one with its first place.
  if (page_->generation != 0) {
    __atomic_store_n(&page_->generation, __atomic_add_fetch(&last_generation_, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
  }
  if (old->before != nullptr) retire(*old->before);
  return true;
}

bool Process::adopt_owner(const ipc::Reply& reply, const int (&fds)[2]) {
  if (page_ == nullptr) return false;
  const Locked lock(page_->asking);
  return switch_to(reply, fds);
}

bool Process::join_next_owner() {
  const auto has_owner = [] { return is_attached() && !is_orphaned(); };
  if (page_ == nullptr || socket_path_[0] == '\0' || has_owner()) return is_attached();
  if (!arch::may_call()) return false;
  const std::uint64_t now = arch::tick_ns();
  if (now < __atomic_load_n(&next_look_ns_, __ATOMIC_RELAXED)) return false;
  // A vfork child has its parent's memory, and descriptors of its own: what it joins the parent would not have.
  if (is_other_process(static_cast<std::uint32_t>(::getpid()))) return false;
  const int saved_errno = errno;
  const Locked lock(page_->asking, false);
  if (lock.is_held() && !has_owner() && !is_given_up()) look_for_owner();
  errno = saved_errno;
  return has_owner();
}

// One that takes the connection and does not answer, which costs the caller some time, is left alone ever longer.
void Process::look_for_owner() {
  drop_connection();
  const int fd = control_connection(kShortPatience_ms);
  const int error = fd < 0 ? -fd : 0;
  const bool silent = error == EAGAIN || error == ETIMEDOUT;
  silent_looks_ = silent ? std::min(silent_looks_ + 1, kMaxSilentLooks) : 0;
  const std::uint64_t pause_ns = silent ? kLookAgain_ns << silent_looks_ : kLookAgain_ns;
  __atomic_store_n(&next_look_ns_, error == 0 ? 0 : arch::tick_ns() + pause_ns, __ATOMIC_RELAXED);
}

bool Process::is_given_up() const { return given_up_until_ns_ != 0 && arch::tick_ns() < given_up_until_ns_; }

// A connection on which an answer may still come is not used again, nor one that has ended.
void Process::note_answer(int error) {
  if (error == EPIPE) drop_connection();
  if (error != EAGAIN && error != ETIMEDOUT) return;
  given_up_until_ns_ = arch::tick_ns() + kGiveUpFor_ns;
  drop_connection();
}

Result<ipc::Answer> Process::ask(const ipc::Request& request, std::string_view text) {
  if (page_ == nullptr) return fail(ENOTSUP, "this kernel has no MADV_WIPEONFORK");
  const Locked lock(page_->asking);
  if (is_given_up()) return fail(ETIMEDOUT, "the owner of the domain does not answer");
  for (int attempt = 0;; ++attempt) {
    const int fd = control_connection(kPatience_ms);
    if (fd < 0) {
      note_answer(-fd);
      return fail(-fd, "no connection to the owner of the domain");
    }
    auto answer = ipc::ask(fd, request, text);
    if (!answer) note_answer(answer.error().code);
    // Gone since we last spoke to it: the next one may be there.
    if (answer || answer.error().code != EPIPE || attempt > 0) return answer;
  }
}

ipc::PlainAnswer Process::ask_plain(const ipc::Request& request) {
  if (page_ == nullptr) return {ENOTSUP, {}};
  const Locked lock(page_->asking);
  if (is_given_up()) return {ETIMEDOUT, {}};
  for (int attempt = 0;; ++attempt) {
    const int fd = control_connection(kPatience_ms);
    if (fd < 0) {
      note_answer(-fd);
      return {-fd, {}};
    }
    const ipc::PlainAnswer answer = ipc::ask_plain(fd, request);
    note_answer(answer.error);
    if (answer.error != EPIPE || attempt > 0) return answer;
  }
}

bool Process::find_socket(const char* named) {
  const std::string path = named != nullptr ? named : ipc::default_socket();
  if (path.size() >= sizeof socket_path_) return false;
  std::memcpy(socket_path_, path.c_str(), path.size() + 1);
  return true;
}

void Process::copy_socket_path(char (&to)[108]) {
  if (page_ == nullptr) {
    to[0] = '\0';
    return;
  }
  const Locked lock(page_->asking);
  std::memcpy(to, socket_path_, sizeof to);
}

void Process::attach_later() {
  if (page_ == nullptr || is_attached()) return;
  const Locked lock(page_->asking);
  if (!is_attached()) find_socket();
}

bool Process::look_at(const char* socket) {
  if (page_ == nullptr) return false;
  const Locked lock(page_->asking);
  __atomic_store_n(&next_look_ns_, 0, __ATOMIC_RELAXED);
  silent_looks_ = 0;
  return find_socket(socket);
}

int Process::attach_or_why(const char* socket) {
  if (is_attached()) return 0;
  if (page_ == nullptr) return ENOTSUP;
  const Locked lock(page_->asking);
  if (is_attached()) return 0;  // another thread was faster
  if (!find_socket(socket)) return ENAMETOOLONG;
  prepare_barriers();
  if (is_given_up()) return ETIMEDOUT;
  const int error = std::max(0, -control_connection(kPatience_ms));
  note_answer(error);
  return error;
}

}  // namespace landtrace::client
