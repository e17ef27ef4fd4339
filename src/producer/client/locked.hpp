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

class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = 0;
};

// Where `patient` is false, only if nobody else has it.
class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex, bool patient = true) : mutex_(mutex) {
    held_ = (patient ? pthread_mutex_lock(&mutex_) : pthread_mutex_trylock(&mutex_)) == 0;
  }
  ~Locked() {
    if (held_) pthread_mutex_unlock(&mutex_);
  }
  [[nodiscard]] bool is_held() const { return held_; }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SignalsBlocked signals_;
  NoCancellation no_cancellation_;
  bool held_;
  pthread_mutex_t& mutex_;
};

}  // namespace landtrace::client
