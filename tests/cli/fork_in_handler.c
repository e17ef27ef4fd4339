/* A program of one thread that forks, and in the middle of that gets a signal whose handler forks, too; for the tests
 * of the command line. What it does before a fork comes behind what libraries do, as it was registered before they were
 * loaded. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPatience_s = 60 };

static volatile sig_atomic_t is_armed, forked;

static int fork_one(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0 && waitpid(child, NULL, 0) == child;
}

static void on_signal(int number) {
  (void)number;
  if (fork_one()) ++forked;
}

static void before_fork(void) {
  if (!is_armed) return;
  is_armed = 0;
  raise(SIGUSR1);
}

static void register_first(void) { pthread_atfork(before_fork, NULL, NULL); }
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = register_first;

int main(void) {
  alarm(kPatience_s);
  signal(SIGUSR1, on_signal);
  is_armed = 1;
  return fork_one() && forked == 1 ? 0 : 1;
}
