#include "client/tsc_guard.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>

#include "arch/thread_time.hpp"
#include "base/system_call.hpp"
#include "client/process.hpp"
#include "plan/program_memory.hpp"

namespace landtrace::client {

#if defined(__x86_64__) || defined(__aarch64__)

namespace {

#if defined(__x86_64__)

constexpr int kGeneralProtection = 13;

arch::FaultRegisters registers_of(mcontext_t& machine) {
  static_assert(sizeof(greg_t) == sizeof(std::int64_t));
  const auto at = [&machine](int index) { return reinterpret_cast<std::int64_t*>(&machine.gregs[index]); };
  return {at(REG_RIP), at(REG_RAX), at(REG_RDX)};
}
bool may_be_counter(const mcontext_t& machine) { return machine.gregs[REG_TRAPNO] == kGeneralProtection; }

#else

// Kernels of 6.12 and later know PR_SET_TSC there.
arch::FaultRegisters registers_of(mcontext_t& machine) {
  return {reinterpret_cast<std::int64_t*>(&machine.pc), reinterpret_cast<std::int64_t*>(&machine.regs[0]), nullptr};
}
bool may_be_counter(const mcontext_t& /*machine*/) { return true; }

#endif

// As without a handler: the fault happens once more, or the signal is sent once more.
void pass_on(int signal, siginfo_t* info) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
  const bool was_sent = info->si_code <= 0 || (signal == SIGBUS && info->si_code == BUS_MCEERR_AO);
  if (was_sent) ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, info);
}

// A thread in strict seccomp may come here: no system calls unless the program is to die.
void on_fault(int signal, siginfo_t* info, void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const arch::FaultRegisters registers = registers_of(machine);
  if (info->si_code > 0 && plan::mend_load_fault(registers.pc)) return;
  if (signal == SIGSEGV && info->si_code > 0 && may_be_counter(machine) && arch::mend_counter_fault(registers)) {
    return Process::set_time_source(arch::TimeSource::kMemory);
  }
  pass_on(signal, info);
}

bool has_handler(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_sigaction == on_fault;
}

// Where the program leaves it to the system.
bool install(int signal) {
  struct sigaction now {};
  if (::sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
    return false;
  now.sa_flags = SA_SIGINFO | SA_ONSTACK;
  now.sa_sigaction = on_fault;
  return ::sigaction(signal, &now, nullptr) == 0;
}

// A handler must not outlive its code.
__attribute__((destructor)) void remove_tsc_guard() {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    if (has_handler(signal)) ::sigaction(signal, &usual, nullptr);
  }
}

}  // namespace

bool counter_is_off() {
  int state = PR_TSC_ENABLE;
  return system_call(SYS_prctl, PR_GET_TSC, &state) == 0 && state == PR_TSC_SIGSEGV;
}

void install_tsc_guard() {
  if (!install(SIGSEGV)) return;
  install(SIGBUS);
  plan::set_load_guard(reinterpret_cast<const void*>(on_fault));
}

#else

bool counter_is_off() { return false; }
void install_tsc_guard() {}

#endif

}  // namespace landtrace::client
