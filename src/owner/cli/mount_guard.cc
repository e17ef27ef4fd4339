// By seccomp: the kernel stops a thread in a call that mounts or unmounts, and asks the guard (seccomp_unotify).
#include "cli/mount_guard.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "attach/confinement.hpp"
#include "base/fd.hpp"
#include "cli/mount_guard/asker.hpp"
#include "cli/mount_guard/guarded_call.hpp"
#include "ipc/socket.hpp"
#include "programs/task.hpp"

namespace landtrace::cli {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64, kCompatArchitecture = AUDIT_ARCH_I386;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64, kCompatArchitecture = AUDIT_ARCH_ARM;
#else
constexpr std::uint32_t kArchitecture = 0, kCompatArchitecture = 0;
#endif

// Root there is the kernel's root, whom it lets mount a debugfs.
bool is_first_user_namespace() {
  const auto map = read_file("/proc/self/uid_map");
  return map && map->find("4294967295") != std::string::npos;
}

// Not even by root: a guard would have to refuse every mount.
bool no_memory_is_read() {
  const auto scope = read_file("/proc/sys/kernel/yama/ptrace_scope");
  return scope && scope->starts_with('3');
}

// ---- the filter

// Allows all but calls that mount or unmount. It looks at nothing but their numbers, so the kernel knows once and
// for all which calls it need not run it for.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    const std::size_t not_native = jump_unless(kArchitecture);
    load(offsetof(seccomp_data, nr));
    ask_at(SYS_mount);
    ask_at(SYS_umount2);
    const std::size_t to_common = code_.size();
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0));
    lands_here(not_native);
    const std::size_t unknown = jump_unless(kCompatArchitecture);
    load(offsetof(seccomp_data, nr));
    for (const int number : {guard::kCompatMount, guard::kCompatOldUmount, guard::kCompatUmount}) ask_at(number);
    code_[to_common].k = static_cast<std::uint32_t>(code_.size() - to_common - 1);
    ask_at(SYS_move_mount);
    lands_here(unknown);
    end(SECCOMP_RET_ALLOW);
  }

  // The listener of this process and those that it will start.
  [[nodiscard]] Fd install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    // Without these, older kernels slow programs down that have a filter. And a signal does not end a wait whose mount
    // has been made (since 5.19).
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    constexpr unsigned kWaitKillable = 1u << 5;
    Fd listener(static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | kWaitKillable, &program)));
    if (listener || errno != EINVAL) return listener;
    return Fd(static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program)));
  }

 private:
  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void end(std::uint32_t action) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }

  std::size_t jump_unless(std::uint32_t value) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0));
    return code_.size() - 1;
  }
  void lands_here(std::size_t jump) { code_[jump].jf = static_cast<std::uint8_t>(code_.size() - jump - 1); }

  void ask_at(long number) {
    const std::size_t other = jump_unless(static_cast<std::uint32_t>(number));
    end(SECCOMP_RET_USER_NOTIF);
    lands_here(other);
  }

  std::vector<sock_filter> code_;
};

// ---- the guard

// In a helper.
void answer(const Fd& listener, const seccomp_notif& asked, const std::vector<std::uint64_t>& elsewhere) {
  const auto by = guard::decide(asked, elsewhere);
  seccomp_notif_resp response{.id = asked.id, .val = 0, .error = by ? 0 : -by.error().code, .flags = 0};
  if (by && *by == guard::By::kThread) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void refuse(const Fd& listener, const seccomp_notif& asked, int error) {
  seccomp_notif_resp response{.id = asked.id, .val = 0, .error = -error, .flags = 0};
  ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

// Until the last process under the filter has ended. A helper for each call, so that one that waits for a file system
// keeps nobody else waiting.
void serve(const Fd& listener, const std::vector<std::uint64_t>& elsewhere) {
  // A newer kernel may write more.
  union {
    seccomp_notif asked;
    char room[1024];
  } request;
  for (;;) {
    pollfd wait{listener.get(), POLLIN, 0};
    if (::poll(&wait, 1, -1) < 0) continue;
    if ((wait.revents & POLLIN) == 0) return;
    request = {.room = {}};
    if (::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) continue;
    const pid_t helper = ::fork();
    if (helper < 0) refuse(listener, request.asked, errno);
    if (helper == 0) {
      answer(listener, request.asked, elsewhere);
      ::_exit(0);
    }
  }
}

// A mount namespace with nothing in it but the domain's files and /proc: a guard keeps no file system of the command's
// from being unmounted, and whatever the command unmounts, it has these.
Result<void> move_out(const std::string& ours) {
  constexpr unsigned kClone = 1, kFromDescriptor = 4;
  if (::unshare(CLONE_NEWNS) != 0) return fail_errno("unshare");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return fail_errno("mount");
  const Fd tree(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, ours.c_str(), kClone | unsigned{O_CLOEXEC})));
  if (!tree) return fail_errno("open_tree");
  if (::mount("landtrace-guard", ours.c_str(), "tmpfs", 0, "mode=0700,size=1m") != 0) return fail_errno("a tmpfs");
  if (::chdir(ours.c_str()) != 0) return fail_errno(ours);
  for (const char* const folder : {guard::kOurs, guard::kWork, "/proc"}) {
    if (::mkdir(folder + 1, 0700) != 0) return fail_errno(folder);
  }
  if (::syscall(SYS_move_mount, tree.get(), "", AT_FDCWD, guard::kOurs + 1, kFromDescriptor) != 0) {
    return fail_errno("move_mount");
  }
  // The one at /proc may be of another pid namespace.
  if (::mount("proc", "proc", "proc", 0, nullptr) != 0) return fail_errno("a proc");
  // Not to be had where the root is the kernel's first one.
  if (::syscall(SYS_pivot_root, ".", ".") == 0) {
    if (::umount2(".", MNT_DETACH) != 0) return fail_errno("umount");
  } else if (::chroot(".") != 0) {
    return fail_errno("chroot");
  }
  if (::chdir("/") != 0) return fail_errno("chdir");
  return {};
}

// Nobody is to wait for the end of a pipe that the guard has.
Fd keep_only(Fd socket) {
  constexpr int kFirst = 3;
  const int kept = ::fcntl(socket.get(), F_DUPFD_CLOEXEC, kFirst);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < kFirst; ++fd) ::dup2(nothing, fd);
  if (kept > kFirst) ::syscall(SYS_close_range, static_cast<unsigned>(kFirst), static_cast<unsigned>(kept) - 1, 0u);
  ::syscall(SYS_close_range, static_cast<unsigned>(kept) + 1, UINT_MAX, 0u);
  std::ignore = socket.release();
  return Fd(kept);
}

[[noreturn]] void be_guard(Fd socket, const std::string& ours, std::uint64_t outside) {
  ::setsid();
  ::prctl(PR_SET_NAME, "landtrace-guard");
  ::signal(SIGCHLD, SIG_IGN);
  std::vector<std::uint64_t> elsewhere{outside};
  const std::uint64_t first = guard::namespace_number("/proc/1/ns/mnt");
  if (first != mount_namespace()) elsewhere.push_back(first);
  socket = keep_only(std::move(socket));
  const auto moved = move_out(ours);
  const std::string why = moved ? std::string() : moved.error().message;
  const std::byte status{moved ? std::uint8_t{0} : std::uint8_t{1}};
  if (!ipc::send(socket.get(), {&status, 1}, std::as_bytes(std::span(why))) || !moved) ::_exit(1);
  std::byte any;
  auto received = ipc::receive(socket.get(), {&any, 1});
  socket = Fd();
  if (received && received->fds[0]) serve(received->fds[0], elsewhere);
  ::_exit(0);
}

// The end of a socket to it, when it is ready.
Result<Fd> start_guard(const std::string& ours, std::uint64_t outside) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("socketpair");
  Fd near(ends[0]);
  Fd far(ends[1]);
  // Twice, so that the command does not get a child that it does not know.
  const pid_t between = ::fork();
  if (between < 0) return fail_errno("fork");
  if (between == 0) {
    near = Fd();
    if (::fork() == 0) be_guard(std::move(far), ours, outside);
    ::_exit(0);
  }
  far = Fd();
  ::waitpid(between, nullptr, 0);
  std::byte said[256];
  const auto received = ipc::receive(near.get(), said);
  if (!received) return tl::unexpected<Error>(received.error());
  if (received->size == 0) return fail(EAGAIN, "its process has ended");
  if (said[0] != std::byte{0}) return fail(EPERM, std::string(reinterpret_cast<char*>(said) + 1, received->size - 1));
  return near;
}

// The process and those that have started it, up to the first one.
std::vector<std::uint32_t> with_ancestors(std::uint32_t pid) {
  std::vector<std::uint32_t> line;
  for (auto stat = programs::stat_of(pid); stat; stat = programs::stat_of(stat->parent)) {
    line.push_back(stat->pid);
  }
  return line;
}

bool answers_here() { return ::mount("none", "/", guard::kProbeType, 0, nullptr) == 0; }

}  // namespace

// Filters are inherited. Whoever is below a process that has one, and has one, has that one; the caller's is the
// guard's if a guard answers.
unsigned guards_filters(std::uint32_t pid) {
  constexpr unsigned kGuards = 1;
  const auto self = static_cast<std::uint32_t>(::getpid());
  if (attach::filters_of(self) != kGuards || attach::filters_of(pid) != kGuards) return 0;
  const auto own = with_ancestors(self);
  const auto others = with_ancestors(pid);
  const auto common = std::find_first_of(own.begin(), own.end(), others.begin(), others.end());
  return common != own.end() && attach::filters_of(*common) == kGuards && answers_here() ? kGuards : 0;
}

std::uint64_t mount_namespace() { return guard::namespace_number("/proc/self/ns/mnt"); }

Result<void> guard_mounts(const std::string& ours, std::uint64_t outside) {
  if (!is_first_user_namespace()) return {};
  if (kArchitecture == 0) return fail(ENOSYS, "not for this machine");
  // What the guard needs came to the kernel with this call at the latest (5.9).
  if (::syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0u) != 0 && errno == ENOSYS)
    return fail(ENOSYS, "the kernel is older than 5.9");
  if (no_memory_is_read()) return fail(EPERM, "kernel.yama.ptrace_scope is 3");
  LT_TRY(const Fd guard, start_guard(ours, outside));
  const Fd listener = Filter().install();
  if (listener) {
    const std::byte any{};
    return ipc::send(guard.get(), {&any, 1}, {}, listener.get());
  }
  const int error = errno;
  if (error == EBUSY && answers_here()) return {};
  return fail_errno("seccomp", error);
}

}  // namespace landtrace::cli
