// A lock that a program's own thread takes: with signals and cancellation held back meanwhile. A handler in that thread
// may want it, too, and a thread that was cancelled would never let it go.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace landtrace::client {

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

// Where `patient` is false, only if nobody else has it.
class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex, bool patient = true) : mutex_(mutex) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    held_ = (patient ? pthread_mutex_lock(&mutex_) : pthread_mutex_trylock(&mutex_)) == 0;
  }
  ~Locked() {
    if (held_) pthread_mutex_unlock(&mutex_);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  [[nodiscard]] bool is_held() const { return held_; }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SignalsBlocked signals_;
  int cancel_state_ = 0;
  bool held_;
  pthread_mutex_t& mutex_;
};

}  // namespace landtrace::client
