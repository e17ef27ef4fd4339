#include "attach/confinement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/prctl.h>
#include <sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/fd.hpp"

namespace landtrace::attach {
namespace {

constexpr const char* kInstead =
    "`landtrace record -p … -- CMD`, or `landtrace run` while the domain has probes, starts it with all that it needs";

// The value of a line "KEY:\tNUMBER"; `otherwise` where there is none, as of keys that a kernel does not know.
long number_in(const std::string& status, const std::string& key, int base, long otherwise) {
  const std::size_t at = status.find("\n" + key + ":\t");
  return at == std::string::npos ? otherwise : std::strtol(status.c_str() + at + key.size() + 3, nullptr, base);
}

#if defined(__x86_64__)

// What becomes of a call that is answered with an error.
enum class IfRefused {
  kInTheWay,   // nothing would be as it should
  kUnknown,    // nothing where it is ENOSYS, as of an older system; else as above
  kDoWithout,  // libc and the agent do without it, or the agent says what cannot be probed
};

struct Needed {
  const char* name;
  SeccompCall call;
  IfRefused if_refused = IfRefused::kInTheWay;
};

constexpr std::uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                  CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

// As strace shows them, of the loader and of glibc 2.31 to 2.39, and as producer/ makes them.
const std::vector<Needed>& needed() {
  using enum IfRefused;
  constexpr auto kAny = std::nullopt;
  static const std::vector<Needed> calls = {
      // The thread that is sent on the detour, and the one that it makes.
      {"rt_sigprocmask", {SYS_rt_sigprocmask, {}}},
      {"mmap", {SYS_mmap, {kAny, kAny, PROT_NONE}}},
      {"mmap", {SYS_mmap, {kAny, kAny, PROT_READ}}},
      {"mmap", {SYS_mmap, {kAny, kAny, PROT_READ | PROT_WRITE}}},
      {"mmap of executable memory", {SYS_mmap, {kAny, kAny, PROT_READ | PROT_EXEC}}},
      {"munmap", {SYS_munmap, {}}},
      {"mprotect", {SYS_mprotect, {kAny, kAny, PROT_READ}}},
      {"mprotect", {SYS_mprotect, {kAny, kAny, PROT_READ | PROT_WRITE}}},
      {"clone3", {SYS_clone3, {}}, kUnknown},
      {"clone of a thread", {SYS_clone, {kThread}}},
      {"set_robust_list", {SYS_set_robust_list, {}}, kDoWithout},
      {"rseq", {334, {}}, kDoWithout},
      {"futex", {SYS_futex, {}}},
      {"nanosleep", {SYS_nanosleep, {}}},
      {"clock_nanosleep", {SYS_clock_nanosleep, {}}},
      {"restart_syscall", {SYS_restart_syscall, {}}},
      {"exit", {SYS_exit, {}}},
      {"madvise", {SYS_madvise, {}}, kDoWithout},
      {"brk", {SYS_brk, {}}, kDoWithout},
      {"getrandom", {SYS_getrandom, {}}, kDoWithout},
      {"sched_getaffinity", {SYS_sched_getaffinity, {}}, kDoWithout},
      // The loader.
      {"openat", {SYS_openat, {}}},
      {"read", {SYS_read, {}}},
      {"pread64", {SYS_pread64, {}}},
      {"newfstatat", {SYS_newfstatat, {}}},
      {"fstat", {SYS_fstat, {}}, kDoWithout},
      {"stat", {SYS_stat, {}}, kDoWithout},
      {"readlink", {SYS_readlink, {}}, kDoWithout},
      {"lseek", {SYS_lseek, {}}},
      {"close", {SYS_close, {}}},
      // The agent, when it begins and when it looks at what is wanted.
      {"socket", {SYS_socket, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0}}},
      {"connect", {SYS_connect, {}}},
      {"poll", {SYS_poll, {}}},
      {"setsockopt", {SYS_setsockopt, {kAny, SOL_SOCKET}}},
      {"getsockopt", {SYS_getsockopt, {kAny, SOL_SOCKET}}},
      {"sendto", {SYS_sendto, {}}},
      {"sendmsg", {SYS_sendmsg, {}}},
      {"recvfrom", {SYS_recvfrom, {}}},
      {"recvmsg", {SYS_recvmsg, {}}},
      {"fcntl", {SYS_fcntl, {kAny, F_DUPFD_CLOEXEC}}},
      {"fcntl", {SYS_fcntl, {kAny, F_GET_SEALS}}},
      {"fcntl", {SYS_fcntl, {kAny, F_ADD_SEALS}}},
      {"memfd_create", {SYS_memfd_create, {}}},
      {"ftruncate", {SYS_ftruncate, {}}},
      {"getdents64", {SYS_getdents64, {}}},
      {"membarrier", {SYS_membarrier, {}}},
      {"futex_waitv", {449, {}}, kDoWithout},
      {"getpid", {SYS_getpid, {}}},
      {"getppid", {SYS_getppid, {}}},
      {"gettid", {SYS_gettid, {}}},
      {"geteuid", {SYS_geteuid, {}}},
      {"prctl of the thread's name", {SYS_prctl, {PR_SET_NAME}}, kDoWithout},
      {"prctl of the thread's name", {SYS_prctl, {PR_GET_NAME}}, kDoWithout},
      {"prctl of the time stamp counter", {SYS_prctl, {PR_GET_TSC}}, kDoWithout},
      {"arch_prctl", {SYS_arch_prctl, {}}, kDoWithout},
      {"rt_sigaction", {SYS_rt_sigaction, {}}},
      {"rt_sigreturn", {SYS_rt_sigreturn, {}}},
      {"kill", {SYS_kill, {kAny, 0}}, kDoWithout},
      {"tgkill", {SYS_tgkill, {kAny, kAny, 0}}, kDoWithout},
      // When it patches.
      {"mprotect of executable memory", {SYS_mprotect, {kAny, kAny, PROT_READ | PROT_EXEC}}, kDoWithout},
      {"mprotect of executable memory", {SYS_mprotect, {kAny, kAny, PROT_READ | PROT_WRITE | PROT_EXEC}}, kDoWithout},
      {"clone of a process", {SYS_clone, {CLONE_VM | CLONE_UNTRACED}}, kDoWithout},
      {"prctl of who may trace", {SYS_prctl, {PR_SET_PTRACER}}, kDoWithout},
      {"ptrace", {SYS_ptrace, {}}, kDoWithout},
      {"process_vm_writev", {SYS_process_vm_writev, {}}, kDoWithout},
      {"wait4", {SYS_wait4, {}}},
      // At a hit.
      {"process_vm_readv", {SYS_process_vm_readv, {}}, kDoWithout},
      {"clock_gettime", {SYS_clock_gettime, {}}},
      {"getcpu", {SYS_getcpu, {}}, kDoWithout},
      {"sched_yield", {SYS_sched_yield, {}}, kDoWithout},
  };
  return calls;
}

// "": nothing.
std::string harm_of(std::uint32_t answer, IfRefused if_refused) {
  const std::uint32_t action = answer & SECCOMP_RET_ACTION_FULL;
  const int error = static_cast<int>(answer & SECCOMP_RET_DATA);
  if (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG) return "";
  if (action == SECCOMP_RET_USER_NOTIF || action == SECCOMP_RET_TRACE) return "another process decides about it";
  if (action != SECCOMP_RET_ERRNO) return "it may end the program";
  const bool does_no_harm =
      if_refused == IfRefused::kDoWithout || (if_refused == IfRefused::kUnknown && error == ENOSYS);
  return does_no_harm ? "" : "it may fail: " + errno_text(error);
}

#endif

}  // namespace

Limits limits_of(std::uint32_t pid) {
  long mode = -1;
  long filters = 0;
  std::error_code error;
  std::filesystem::directory_iterator folder(fmt::format("/proc/{}/task", pid), error);
  for (; !error && folder != std::filesystem::directory_iterator(); folder.increment(error)) {
    const auto status = read_file(folder->path().string() + "/status", 64 << 10);
    if (!status) continue;
    const long its_mode = number_in(*status, "Seccomp", 10, 0);
    const long its_filters = number_in(*status, "Seccomp_filters", 10, 0);
    if (its_mode == SECCOMP_MODE_STRICT) return Limits::kStrict;
    if (mode >= 0 && (its_mode != mode || its_filters != filters)) return Limits::kMixed;
    mode = its_mode;
    filters = its_filters;
  }
  return mode > 0 ? Limits::kFilters : Limits::kNone;
}

unsigned filters_of(std::uint32_t tid) {
  const auto status = read_file(fmt::format("/proc/{}/status", tid), 64 << 10);
  return status ? static_cast<unsigned>(number_in(*status, "Seccomp_filters", 10, 0)) : 0;
}

bool may_read_filters() {
  constexpr unsigned kSysAdmin = 21;
  const auto status = read_file("/proc/self/status", 64 << 10);
  return status && number_in(*status, "Seccomp", 10, 0) == 0 &&
         (number_in(*status, "CapEff", 16, 0) >> kSysAdmin & 1) != 0;
}

std::string call_in_the_way(const std::vector<SeccompFilter>& filters) {
#if defined(__x86_64__)
  for (const Needed& one : needed()) {
    for (const SeccompFilter& filter : filters) {
      for (const std::uint32_t answer : answers_of(filter, one.call)) {
        const std::string harm = harm_of(answer, one.if_refused);
        if (!harm.empty()) return fmt::format("{} ({})", one.name, harm);
      }
    }
  }
  return "";
#else
  return filters.empty() ? "" : "any";
#endif
}

Result<void> Confinement::check(std::uint32_t pid) const {
  switch (limits_of(pid)) {
    case Limits::kNone:
      return {};
    case Limits::kStrict:
      return fail(EPERM,
                  fmt::format("a thread of it is in strict seccomp, where any other call ends it; {}", kInstead));
    case Limits::kMixed:
      return fail(EPERM,
                  fmt::format("seccomp limits the system calls of its threads, not of all of them alike, and one "
                              "that a thread may not make could end it; {}",
                              kInstead));
    case Limits::kFilters:
      break;
  }
  if (may_read_filters() || has_harmless_ones(pid)) return {};
  return fail(EPERM, fmt::format("seccomp limits its system calls, and one that it may not make could end it; root, "
                                 "outside of a container, may see which those are; {}",
                                 kInstead));
}

bool Confinement::has_harmless_ones(std::uint32_t tid) const {
  const unsigned filters = harmless_ == 0 ? 0 : filters_of(tid);
  return filters > 0 && filters <= harmless_;
}

bool Confinement::lets_in(const std::vector<SeccompFilter>& filters) const {
  const auto is_same_line = [](const sock_filter& a, const sock_filter& b) {
    return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
  };
  return std::equal(filters.begin(), filters.end(), judged_.begin(), judged_.end(),
                    [&](const SeccompFilter& a, const SeccompFilter& b) {
                      return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_line);
                    });
}

Result<void> Confinement::judge(const std::vector<SeccompFilter>& filters) {
  if (lets_in(filters)) return {};
  const std::string call = call_in_the_way(filters);
  if (!call.empty()) {
    return fail(EPERM,
                fmt::format("seccomp does not let it make a system call that the agent makes, {}; {}", call, kInstead));
  }
  judged_ = filters;
  return {};
}

}  // namespace landtrace::attach
