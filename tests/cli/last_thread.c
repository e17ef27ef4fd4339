/* A program that does not end by exit(), for the tests of the command line.
 *
 *   last_thread pthread_exit    ends in a thread that waits for the first one's end; what exit() runs says "at the end"
 *   last_thread strict          says "locked in" in strict seccomp, and ends its only thread with status 3 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_t first;

static void say(void) { puts("at the end"); }

static void* outlive(void* nothing) {
  pthread_join(first, NULL);
  return nothing;
}

static int end_first(void) {
  pthread_t last;
  first = pthread_self();
  if (atexit(say) != 0 || pthread_create(&last, NULL, outlive, NULL) != 0) return 1;
  pthread_exit(NULL);
}

static int lock_in(void) {
  const char words[] = "locked in\n";
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) return 1;
  syscall(SYS_write, STDOUT_FILENO, words, strlen(words));
  syscall(SYS_exit, 3);
  return 2;
}

int main(int argc, char** argv) {
  if (argc < 2) return 4;
  return strcmp(argv[1], "strict") == 0 ? lock_in() : end_first();
}
