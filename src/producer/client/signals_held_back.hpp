// Signals held back in a thread of the program's while it is in the middle of something.
#pragma once

#include <signal.h>

#include <cstdint>

#include "base/system_call.hpp"

namespace landtrace::client {

// All but what comes of what the thread itself does, as a system call that a handler of the program's answers (SIGSYS).
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    constexpr auto bit_of = [](int signal) { return 1ull << (signal - 1); };
    constexpr std::uint64_t kOthers =
        ~(bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGILL) | bit_of(SIGFPE) | bit_of(SIGTRAP) | bit_of(SIGSYS));
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, &kOthers, &before_, sizeof before_);
  }
  ~SignalsHeldBack() {
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, static_cast<void*>(nullptr), sizeof before_);
  }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  std::uint64_t before_ = 0;
};

}  // namespace landtrace::client
