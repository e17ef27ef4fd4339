#include "attach/traced_thread.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "attach/facts.hpp"
#include "base/fd.hpp"

namespace landtrace::attach {
namespace {

constexpr auto kGetFilter = static_cast<__ptrace_request>(0x420c);
// As in <linux/ptrace.h> of 5.13.
constexpr auto kGetRseq = static_cast<__ptrace_request>(0x420f);
struct RseqPlace {
  std::uint64_t area;
  std::uint32_t size;
  std::uint32_t signature;
  std::uint32_t flags;
  std::uint32_t padding;
};
struct RseqSection {
  std::uint32_t version;
  std::uint32_t flags;
  std::uint64_t begin;
  std::uint64_t size;
  std::uint64_t abort;
};
constexpr std::uint64_t kSectionInArea = 8;

// For a thread that would stop if it had a processor: a machine may be busy with others for seconds.
constexpr std::chrono::seconds kStarvedPatience{30};

bool read_memory(std::uint32_t tid, std::uint64_t address, void* to, std::size_t size) {
  iovec here{to, size};
  iovec there{reinterpret_cast<void*>(address), size};
  return ::process_vm_readv(static_cast<pid_t>(tid), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::uint64_t set_in(const std::string& status, const char* key) {
  const std::size_t at = status.find(key);
  return at == std::string::npos
             ? 0
             : std::strtoull(status.c_str() + at + std::char_traits<char>::length(key), nullptr, 16);
}

}  // namespace

Result<TracedThread> TracedThread::seize(std::uint32_t tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return fail_errno("PTRACE_SEIZE");
  return TracedThread(tid);
}

TracedThread::TracedThread(TracedThread&& other) noexcept
    : tid_(std::exchange(other.tid_, 0)), is_stopped_(other.is_stopped_), since_(other.since_) {}

TracedThread::~TracedThread() { let_go(); }

bool TracedThread::let_go() {
  const std::uint32_t tid = std::exchange(tid_, 0);
  return tid != 0 && is_stopped_ && ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr) == 0;
}

Result<void> TracedThread::stop(std::chrono::milliseconds patience, const std::function<Result<void>()>& meanwhile) {
  since_ = std::chrono::steady_clock::now();
  if (::ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr) != 0) return fail_errno("PTRACE_INTERRUPT");
  const auto end = since_ + patience;
  for (int i = 0;; ++i) {
    siginfo_t seen{};
    const auto now = std::chrono::steady_clock::now();
    if (::waitid(P_PID, tid_, &seen, WSTOPPED | __WALL | WNOHANG) != 0) return fail_errno("waitid");
    if (seen.si_pid == 0) {
      // Its end is its parent's to take, who may be another thread of this process.
      if (::waitid(P_PID, tid_, &seen, WEXITED | __WALL | WNOHANG | WNOWAIT) != 0) return fail_errno("waitid");
      if (seen.si_code == CLD_EXITED || seen.si_code == CLD_KILLED || seen.si_code == CLD_DUMPED) {
        tid_ = 0;
        return fail(ESRCH);
      }
      if (i % 64 == 63) {
        LT_CHECK(meanwhile());
        if (now > end && (now > end + kStarvedPatience || state_of_thread(tid_, tid_) != 'R')) return fail(ETIMEDOUT);
      }
      since_ = now;
      // Most are there at once. Not sched_yield(): on a busy machine that gives a whole slice away.
      if (i > 20) ::usleep(20);
      continue;
    }
    const int event = seen.si_status >> 8;
    const int signal = seen.si_status & 0xff;
    if (event == PTRACE_EVENT_STOP) {
      is_stopped_ = true;
      if (signal != SIGTRAP) return fail(EBUSY);
      return {};
    }
    // On its way to the stop it has got a signal, which is its own.
    if (::ptrace(PTRACE_CONT, tid_, nullptr, event == 0 ? signal : 0) != 0) return fail_errno("PTRACE_CONT");
  }
}

Result<user_regs_struct> TracedThread::registers() const {
  user_regs_struct registers{};
  iovec place{&registers, sizeof registers};
  if (::ptrace(PTRACE_GETREGSET, tid_, NT_PRSTATUS, &place) != 0) return fail_errno("PTRACE_GETREGSET");
  return registers;
}

Result<void> TracedThread::set_registers(const user_regs_struct& registers) const {
  iovec place{const_cast<user_regs_struct*>(&registers), sizeof registers};
  if (::ptrace(PTRACE_SETREGSET, tid_, NT_PRSTATUS, &place) != 0) return fail_errno("PTRACE_SETREGSET");
  return {};
}

bool TracedThread::is_in_restartable_sequence(std::uint64_t ip) const {
  RseqPlace place{};
  std::uint64_t at = 0;
  RseqSection section{};
  if (::ptrace(kGetRseq, tid_, sizeof place, &place) <= 0 || place.area == 0) return false;
  if (!read_memory(tid_, place.area + kSectionInArea, &at, sizeof at) || at == 0) return false;
  return read_memory(tid_, at, &section, sizeof section) && ip - section.begin < section.size;
}

TracedThread::Status TracedThread::status() const {
  const auto text = read_file(fmt::format("/proc/{}/status", tid_), 64 << 10);
  if (!text) return {};
  const std::uint64_t pending = set_in(*text, "\nSigPnd:") | set_in(*text, "\nShdPnd:");
  return {(pending & ~set_in(*text, "\nSigBlk:")) != 0, set_in(*text, "\nSeccomp:") != 0};
}

Result<std::vector<SeccompFilter>> TracedThread::filters() const {
  std::vector<SeccompFilter> filters;
  for (std::uint64_t i = 0;; ++i) {
    const long size = ::ptrace(kGetFilter, tid_, i, nullptr);
    if (size < 0 && errno == ENOENT) return filters;
    if (size < 0) return fail_errno("the system does not show what seccomp lets it do");
    SeccompFilter filter(static_cast<std::size_t>(size));
    if (::ptrace(kGetFilter, tid_, i, filter.data()) < 0)
      return fail_errno("the system does not show what seccomp lets it do");
    filters.push_back(std::move(filter));
  }
}

}  // namespace landtrace::attach
