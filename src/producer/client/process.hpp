// The calling process's attachments to a domain, one after the other as owners come and go.
//
// An owner that dies leaves its memory to those who have mapped it; its mark in the control segment says that nobody
// reads that any more. The process then joins the next owner at the same path: a new Attachment becomes the current
// one, and the number by which threads know their places grows, so that each finds a new place at its next event. A
// thread that is inside an emit goes on in the old one, where nobody hears it.
//
// The owner's barriers (plan/section.hpp) reach only processes that have registered for them. That takes no time before
// there are threads, so it happens when the library is loaded; with threads the kernel takes some 10 ms, which a thread
// of ours waits out while the program goes on (ThreadSlot::unregistered).
//
// fork: the mappings are inherited, so a child goes on emitting; what must not be shared is found again at its first
// use. A page that the kernel wipes on fork (MADV_WIPEONFORK, so that no fork escapes notice, whatever made it)
// holds the number by which a thread knows that its place in the data plane is still its own.
//
// vfork, posix_spawn: the child has the page as it is, and all that the parent's thread knows. Whoever looks for a
// place asks whether it is the parent; and who knows of such a child beforehand has both look (expect_child()).
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string_view>

#include "base/shared_layout.hpp"
#include "client/attachment.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {

struct Connection {
  std::int32_t socket_plus_one;
  // What the connection was when it was opened: programs close descriptors that are not theirs.
  std::uint64_t socket_inode;
};
LT_SHARED(Connection, 16, 8);
LT_SHARED_AT(Connection, socket_inode, 8);

// The page that fork wipes: all zero in a fresh child.
//
//   0            8     12        16                24             32
//   +------------+-----+---------+-----------------+--------------+---------+----
//   | generation | pid | foreign | socket_plus_one | socket_inode | asking  | unused, to the end of the page
//   +------------+-----+---------+-----------------+--------------+---------+----
//
// While a thread's LocalThread::generation is the one here, its place in the data plane is still its own. Else the
// process has another attachment by now, or is a child that was forked, and the thread looks for a place.
//
// Who writes: one thread after another under `asking`, but for adopt(), which any thread of a fresh child may run
// first. Who reads: every thread; at an event the generation alone.
struct ForkPage {
  // Of this process's attachment; 0: not known yet.
  std::uint64_t generation;
  std::uint32_t pid;
  // The owner is in another pid namespace: our ids mean nothing to it.
  bool foreign;
  // This process's control connection.
  Connection connection;
  // All zero is an unlocked mutex.
  pthread_mutex_t asking;
};
static_assert(sizeof(ForkPage) <= 4096 && Shareable<ForkPage> && sizeof(bool) == 1);
LT_SHARED_AT(ForkPage, generation, 0);
LT_SHARED_AT(ForkPage, pid, 8);
LT_SHARED_AT(ForkPage, foreign, 12);
LT_SHARED_AT(ForkPage, connection, 16);
LT_SHARED_AT(ForkPage, asking, 32);

inline constexpr ForkPage kNoForkPage{};

struct LocalThread {
  const ForkPage* page = &kNoForkPage;
  // ForkPage::generation when `place` was found; before that it does not match.
  std::uint64_t generation = 1;
  const Place* place = nullptr;
  // Of the last child that has run in the thread's place, with its memory.
  const Place* place_of_child = nullptr;
  // Whose child that was; what another process had, from which this one was forked, is that one's.
  std::uint32_t parent_of_child = 0;
  // The id of who looks for a place: the thread, or a child in its place, which may be killed at it. 0: nobody.
  std::uint32_t searching = 0;
  // So many events of its own, until it is taken to be back from making a child.
  std::uint32_t expects = 0;
  // Events to let go before the next search, after one that found nothing.
  std::uint32_t silent_for = 0;
  // The thread has left the process's descriptors, and has a control connection of its own.
  bool is_apart = false;
  Connection connection{};
};

// An object that has places of its own, and hears from the shim of such children, and that the calling thread knows the
// time by other means from now on.
struct ChildListener {
  void (*expect)(std::uint32_t events);
  void (*is_gone)();
  void (*set_time_source)(arch::TimeSource source);
};

// Whom a process has named with PR_SET_PTRACER, as the shim has seen it; its children have not.
struct NamedTracer {
  std::uint64_t whom;
  std::uint32_t process;
};

class Process {
 public:
  static Process& get();
  static constexpr int kLookAgain_ms = 20;

  // Attaches to the domain at ipc::default_socket(), once. False when there is none, it does not want us, or it is
  // served by a user whom we must not trust: only root, or ourselves. Not async-signal-safe.
  bool attach() { return attach_or_why() == 0; }
  // The same: 0, or an errno. ENOENT and ECONNREFUSED: there is no domain; EPERM: it is served by such a user; EPIPE,
  // EPROTO: who took the connection ended it, or is no owner that we understand; ETIMEDOUT, EAGAIN: it does not answer;
  // else what it has answered, or what kept us from asking.
  // `socket`: of the domain, where it is another than that.
  int attach_or_why(const char* socket = nullptr);
  // An orphaned process looks for the next owner there. False for a path that is too long.
  bool look_at(const char* socket);
  // Where the domain is, for a process that join_next_owner() is to attach.
  void attach_later();
  [[nodiscard]] static bool is_attached() { return current() != nullptr; }
  // Pairs with the release stores in switch_to(): what the attachment holds is there.
  [[nodiscard]] static Attachment* current() { return __atomic_load_n(&current_, __ATOMIC_ACQUIRE); }
  // Of the current owner. The process must be attached.
  [[nodiscard]] static const plan::View& view() { return current()->view; }
  // True when the owner has died or ended; its events have no listeners any more.
  [[nodiscard]] static bool is_orphaned() { return is_attached() && plan::owner_died(view()); }

  // Joins the owner that has taken an orphaned process's domain over, or the first one of a process that is to attach
  // later. True when there is an owner now. Looks at most every
  // kLookAgain_ms, and waits for nobody: neither for an owner nor for another thread that is at it already. Allocates
  // nothing; async-signal-safe.
  bool join_next_owner();
  // Makes the owner with this control segment the process's, unless it is already; `reply` and `fds` as they came for
  // kAttach, to be closed by the caller. False where they are no good. For callers with a connection of their own.
  bool adopt_owner(const ipc::Reply& reply, const int (&fds)[2]);
  // Called before the threads of the process find the next owner, with everything held back that ask() holds back.
  // `pid` is what that owner sees the process as.
  void set_on_next_owner(void (*function)(std::uint32_t pid)) { on_next_owner_ = function; }

  // Asks the owner, joining the next one where it has died. Serialised over the threads of the process, with signals
  // and cancellation held back meanwhile. ETIMEDOUT when it does not answer for some seconds, and from then on for a
  // while at once: an owner that is stopped must not stop its programs.
  Result<ipc::Answer> ask(const ipc::Request& request, std::string_view text = {});
  // The same for requests without text whose answer is a number. Allocates nothing: for the handlers of fork.
  ipc::PlainAnswer ask_plain(const ipc::Request& request);

  // Where the domain is, as it was found when the process attached; the environment may have changed since.
  [[nodiscard]] const char* socket_path() const { return socket_path_; }
  // The same, copied under the lock: for a thread that does not know whether the process is attaching right now.
  void copy_socket_path(char (&to)[108]);

  // The calling thread's place in the data plane; nullptr when it can have none (not attached, no slot free, or the
  // call interrupts the search for it). Async-signal-safe.
  static const Place* place() {
    LocalThread& local = local_;
    if (__builtin_expect(local.generation != local.page->generation, 0)) return get().find_place(local);
    const Place* const place = local.place;
    if (place == nullptr) __builtin_unreachable();  // with that generation there is one: a test less for the caller
    return place;
  }
  // Whether it has been found.
  static bool has_place() { return local_.generation == local_.page->generation; }

  // The descriptor of the control connection, or -1 if there is none, or the program has put another file there.
  // The shim keeps programs from closing it.
  [[nodiscard]] int control_fd() const;
  [[nodiscard]] bool may_be_control_fd(int fd) const {
    return page_ != nullptr && page_->connection.socket_plus_one == fd + 1 && fd >= 0;
  }
  // The calling thread has left the process's descriptors, and asks by a connection of its own from here on. It leaves
  // the next owner to the others, whose files are to be opened there anew. Undone in a forked child, which has the
  // thread's descriptors.
  static void be_apart(bool is_so) {
    local_.is_apart = is_so;
    local_.connection = {};
  }
  // The calling thread may not read the time stamp counter, or may again. Async-signal-safe.
  static void set_time_source(arch::TimeSource source);
  // The calling thread makes a child that shares its memory and runs in its place until it ends or becomes another
  // program (vfork, posix_spawn). Until child_is_gone() thread and child look for their places at each event; or, where
  // nobody will say that, until the thread has had so many `events` of its own: it may have some before it makes the
  // child. Without it the child's events would be its parent's, and written by sequences that the kernel does not
  // restart in a child. Async-signal-safe.
  static constexpr std::uint32_t kUntilGone = ~0u;
  static void expect_child(std::uint32_t events = kUntilGone);
  static void child_is_gone();
  // Registers for the owner's barriers, unless that has happened. Some 10 ms where there are threads.
  static void register_for_barriers();
  // In a fresh child, before anything else happens there.
  void after_fork() {
    if (is_attached()) {
      adopt();
    } else {
      note_process();
    }
  }
  // For is_other_process() in a process that has not attached.
  void note_process();
  // True where `pid`, the caller's, is not the process that this memory belongs to: in a vfork child.
  [[nodiscard]] bool is_other_process(std::uint32_t pid) const {
    return page_ != nullptr && page_->pid != 0 && page_->pid != pid;
  }

 private:
  Process();
  int control_connection(int patience_ms);
  int connect(int patience_ms);
  int meet_owner(int fd);
  void look_for_owner();
  void drop_connection();
  [[nodiscard]] Connection& connection() const { return local_.is_apart ? local_.connection : page_->connection; }
  bool find_socket(const char* named = nullptr);
  bool switch_to(const ipc::Reply& reply, const int (&fds)[2]);
  [[nodiscard]] bool is_given_up() const;
  void note_answer(int error);
  const Place* find_place(LocalThread& local);
  const Place* find_place_of_child(LocalThread& local, Attachment& attachment, std::uint32_t pid, std::uint32_t tid);
  Place* claim_place(Attachment& attachment, std::uint32_t pid, std::uint32_t tid, bool restartable);
  void adopt();
  void prepare_barriers();
  void settle_slots();

  ForkPage* page_ = nullptr;
  std::uint64_t last_generation_ = 0;
  bool portable_ = false;
  bool has_handlers_ = true;
  std::uint32_t program_;        // ThreadSlot::program
  std::uint64_t namespace_ = 0;  // the pid namespace that the process attached in
  std::uint64_t given_up_until_ns_ = 0;
  std::uint64_t next_look_ns_ = 0;  // when an orphan looks for an owner again
  unsigned silent_looks_ = 0;
  void (*on_next_owner_)(std::uint32_t pid) = nullptr;
  char socket_path_[108] = {};

  // Static, as it begins before the first use of the rest.
  // Not a class: clang 14 has no atomic operations on those.
  enum Barriers : std::uint8_t { kNone, kPending, kRegistered };
  static constinit Barriers barriers_;
  // Whose thread registers while it is pending.
  std::uint32_t registering_pid_ = 0;

  // Static, so that an event gets at it without a detour through get().
  static constinit Attachment* current_;
  static constinit thread_local LocalThread local_ __attribute__((tls_model("initial-exec")));
};

}  // namespace landtrace::client
