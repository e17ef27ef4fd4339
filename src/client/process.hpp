// The calling process's attachment to a domain. There is one in a process.
//
// fork: the mappings are inherited, so a child goes on emitting; what must not be shared is found again at its first
// use. A page that the kernel wipes on fork (MADV_WIPEONFORK, so that no fork escapes notice, whatever made it)
// holds the number by which a thread knows that its place in the data plane is still its own.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string_view>

#include "ipc/socket.hpp"
#include "plan/emit.hpp"

namespace landtrace::client {

// All zero in a fresh child.
struct ForkPage {
  std::uint64_t generation;  // of this process's attachment; 0: not known yet
  std::uint32_t pid;
  bool foreign;                  // the owner is in another pid namespace: our ids mean nothing to it
  std::int32_t socket_plus_one;  // this process's control connection
  std::uint64_t socket_inode;    // what it was when it was opened: programs close descriptors that are not theirs
  pthread_mutex_t asking;        // all zero is an unlocked mutex
};

inline constexpr ForkPage kNoForkPage{};

struct LocalThread {
  const ForkPage* page = &kNoForkPage;
  std::uint64_t generation = 1;  // ForkPage::generation when `place` was found; no match before that
  plan::Thread place;
  bool searching = false;
  std::uint32_t silent_for = 0;  // events to let go before the next search, after one that found nothing
};

class Process {
 public:
  static Process& get();

  // Attaches to the domain at ipc::default_socket(), once. False when there is none, it does not want us, or it is
  // served by a user whom we must not trust: only root, or ourselves. Not async-signal-safe.
  bool attach();
  [[nodiscard]] static bool is_attached() { return view_.control != nullptr; }
  [[nodiscard]] static const plan::View& view() { return view_; }

  // Asks the owner. Serialised over the threads of the process, with signals and cancellation held back meanwhile.
  // ETIMEDOUT when it does not answer for some seconds, and from then on for a while at once: an owner that is stopped
  // must not stop its programs.
  Result<ipc::Answer> ask(const ipc::Request& request, std::string_view text = {});
  // The same for requests without text whose answer is a number. Allocates nothing: for the handlers of fork.
  ipc::PlainAnswer ask_plain(const ipc::Request& request);

  // Where the domain is, as it was found when the process attached; the environment may have changed since.
  [[nodiscard]] const char* socket_path() const { return socket_path_; }

  // The calling thread's place in the data plane; nullptr when it can have none (not attached, no slot free, or the
  // call interrupts the search for it). Async-signal-safe.
  static plan::Thread* thread() {
    LocalThread& local = local_;
    if (__builtin_expect(local.generation == local.page->generation, 1)) return &local.place;
    return get().find_thread(local);
  }

  // The descriptor of the control connection, or -1 if there is none, or the program has put another file there.
  // The shim keeps programs from closing it.
  [[nodiscard]] int control_fd() const;
  [[nodiscard]] bool may_be_control_fd(int fd) const {
    return page_ != nullptr && page_->socket_plus_one == fd + 1 && fd >= 0;
  }
  // In a fresh child, before anything else happens there.
  void after_fork() {
    if (is_attached()) adopt();
  }
  // True where `pid`, the caller's, is not the process that this memory belongs to: in a vfork child.
  [[nodiscard]] bool is_other_process(std::uint32_t pid) const {
    return page_ != nullptr && page_->pid != 0 && page_->pid != pid;
  }

 private:
  Process();
  bool map_segments(ipc::Answer& answer);
  int control_connection();
  [[nodiscard]] bool is_given_up() const;
  void note_answer(int error);
  plan::Thread* find_thread(LocalThread& local);
  void adopt();

  ForkPage* page_ = nullptr;
  std::uint64_t last_generation_ = 0;
  bool portable_ = false;
  std::uint64_t namespace_ = 0;  // the pid namespace that the process attached in
  bool attached_foreign_ = false;
  std::uint64_t given_up_until_ns_ = 0;
  char socket_path_[108] = {};

  // Static, so that an event gets at it without a detour through get().
  static constinit plan::View view_;
  static constinit thread_local LocalThread local_ __attribute__((tls_model("initial-exec")));
};

}  // namespace landtrace::client
