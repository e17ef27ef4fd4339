// To be preloaded: a thread that has used OpenSSL begins to end before the program's exit handlers run, and takes its
// time. Whether OpenSSL's handler, which frees what it goes on with, is its end is a matter of luck: so a program whose
// handlers run meanwhile ends with a status of its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { kLook_us = 1000, kLooks = 3000, kHandlersRan = 70 };

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread int is_ending;
static volatile int has_late_thread;

// Before OpenSSL's destructor, whose key is newer.
static void begin_to_end(void* value) {
  (void)value;
  is_ending = 1;
}

// Before OpenSSL's handler, which is older.
static void wait_for_thread(void) {
  for (int look = 0; !has_late_thread && look < kLooks; ++look) usleep(kLook_us);
}
static void add_handler(void) { atexit(wait_for_thread); }

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  int (*const next)(pthread_rwlock_t*) = (int (*)(pthread_rwlock_t*))dlsym(RTLD_NEXT, "pthread_rwlock_rdlock");
  if (gettid() != getpid() && !is_ending) {
    pthread_once(&once, add_handler);
    pthread_setspecific(key, &key);
  }
  return next(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  int (*const next)(pthread_rwlock_t*) = (int (*)(pthread_rwlock_t*))dlsym(RTLD_NEXT, "pthread_rwlock_wrlock");
  if (is_ending) {
    is_ending = 0;
    has_late_thread = 1;
    usleep(kLooks * kLook_us);
  }
  return next(lock);
}

__attribute__((constructor)) static void begin(void) { pthread_key_create(&key, begin_to_end); }

__attribute__((destructor)) static void end(void) {
  if (has_late_thread) _exit(kHandlersRan);
}
