#include "client/barrier_thread.hpp"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/own_threads.hpp"
#include "client/process.hpp"

namespace landtrace::client {
namespace {

constexpr std::size_t kBarrierStack = 64u << 10;

pthread_t barrier_thread;
// Whose thread it is; 0: there is none. A forked child does not have it.
pid_t barrier_thread_of = 0;

void* register_and_end(void*) {
  Process::register_for_barriers();
  return nullptr;
}

// The code must not be unloaded under it.
__attribute__((destructor)) void join_barrier_thread() {
  if (barrier_thread_of != 0 && barrier_thread_of == ::getpid()) pthread_join(barrier_thread, nullptr);
}

}  // namespace

bool start_barrier_thread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::max<std::size_t>(kBarrierStack, PTHREAD_STACK_MIN));
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&barrier_thread, &attributes, register_and_end, nullptr);
  // A program with much thread-local data needs more.
  if (error == EINVAL) error = pthread_create(&barrier_thread, nullptr, register_and_end, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    pthread_setname_np(barrier_thread, kBarrierThreadName);
    barrier_thread_of = ::getpid();
  }
  return error == 0;
}

}  // namespace landtrace::client
