// prctl, and what of it comes through syscall(): a thread that gives the time stamp counter up, or locks itself in.
// It keeps its place in the data plane, and knows the time by other means from then on (client/tsc_guard.hpp). And whom
// the program lets trace it.
//
// unshare() and setns() refuse some namespaces where there is a second thread. The agent's ends before, and is made
// again. A filter of system calls that is set for all threads is not one that it was written for: it ends for good.
#include <cstdarg>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/own_threads.hpp"
#include "client/process.hpp"
#include "plan/program_memory.hpp"
#include "preload/agent_loader.hpp"
#include "preload/children.hpp"
#include "preload/fd_table.hpp"
#include "preload/real.hpp"
#include "preload/sandbox.hpp"

// For the agent: it names another tracer for a moment (agent/other_threads.hpp).
extern "C" {
__attribute__((visibility("default"))) constinit landtrace::client::NamedTracer landtrace_named_tracer{};
// How many filters of system calls there are, or may be in a moment (plan/program_memory.hpp).
__attribute__((visibility("default"))) constinit std::uint32_t landtrace_filters = 0;
}

namespace landtrace::preload {
namespace {

using arch::TimeSource;

// Before the call, as there may be none behind it. The only thread of a program ends by exit(2) then, which ends no
// other.
template <typename Call>
auto lock_in(const Call& call) {
  const bool is_only_one = has_agent() && !program_has_other_threads();
  if (is_only_one) set_agent_thread(AgentThread::kEnded);
  client::Process::place();
  expect_no_child();
  const TimeSource before = arch::time_source;
  set_time_source(TimeSource::kMemory);
  const auto result = call();
  if (result == 0) return result;
  set_time_source(before);
  if (is_only_one) set_agent_thread(AgentThread::kThere);
  return result;
}

template <typename Call>
auto switch_counter(unsigned long state, const Call& call) {
  const auto result = call();
  if (result != 0 || arch::time_source == TimeSource::kMemory) return result;
  set_time_source(state == PR_TSC_SIGSEGV ? TimeSource::kCalls : TimeSource::kCounter);
  return result;
}

template <typename Call>
auto name_tracer(unsigned long whom, const Call& call) {
  const auto result = call();
  const auto process = static_cast<std::uint32_t>(::getpid());
  // Not what a vfork child names for itself. No partner: a thread of the agent's reads it some time.
  if (result == 0 && !client::Process::get().is_other_process(process)) landtrace_named_tracer = {whom, process};
  return result;
}

template <typename Call>
auto set_filter(unsigned long flags, const Call& call) {
  const bool for_all_threads = (flags & SECCOMP_FILTER_FLAG_TSYNC) != 0;
  if (for_all_threads) set_agent_thread(AgentThread::kEnded);
  // Before the call, as the thread's next hit may be in the middle of it.
  plan::set_filters(&landtrace_filters);
  __atomic_fetch_add(&landtrace_filters, 1, __ATOMIC_RELAXED);
  const auto result = call();
  // A listener's descriptor; without one it is the thread that could not be given the filter.
  const bool is_set = result == 0 || (result > 0 && (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0);
  if (!is_set) __atomic_fetch_sub(&landtrace_filters, 1, __ATOMIC_RELAXED);
  if (is_set) {
    set_agent_thread(AgentThread::kNotInChildren);
  } else if (for_all_threads) {
    set_agent_thread(AgentThread::kThere);
  }
  return result;
}

template <typename Call>
auto prctl_by(long option, unsigned long argument, const Call& call) {
  if (option == PR_SET_TSC) return switch_counter(argument, call);
  if (option == PR_SET_PTRACER) return name_tracer(argument, call);
  if (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_STRICT) return lock_in(call);
  if (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_FILTER) return set_filter(0, call);
  return call();
}

}  // namespace

long sandbox_syscall(long number, long a, long b, long c, long d, long e) {
  const auto call = [=] { return real().syscall(number, a, b, c, d, e); };
  if (number == SYS_prctl) return prctl_by(a, static_cast<unsigned long>(b), call);
  if (number != SYS_seccomp) return call();
  if (a == SECCOMP_SET_MODE_STRICT) return lock_in(call);
  return a == SECCOMP_SET_MODE_FILTER ? set_filter(static_cast<unsigned long>(b), call) : call();
}

}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT int unshare(int flags) noexcept {
  constexpr int kAlone = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
  const auto call = [=] { return real().unshare(flags); };
  const bool leaves = (flags & CLONE_FILES) != 0 && has_company();
  const bool leaves_agent = (flags & CLONE_FILES) != 0 && !leaves && !has_own_descriptors();
  const int result = (flags & kAlone) != 0 || leaves_agent ? without_agent_thread(call) : call();
  if (result == 0 && leaves) descriptors_left();
  return result;
}

LT_EXPORT int setns(int fd, int type) noexcept {
  // Of time, as in <linux/sched.h>; 0: of whatever kind.
  constexpr int kAlone = CLONE_NEWUSER | CLONE_NEWNS | 0x80;
  const auto call = [=] { return real().setns(fd, type); };
  return type == 0 || (type & kAlone) != 0 ? without_agent_thread(call) : call();
}

LT_EXPORT int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  const auto a = va_arg(list, unsigned long);
  const auto b = va_arg(list, unsigned long);
  const auto c = va_arg(list, unsigned long);
  const auto d = va_arg(list, unsigned long);
  va_end(list);
  return prctl_by(option, a, [=] { return real().prctl(option, a, b, c, d); });
}
