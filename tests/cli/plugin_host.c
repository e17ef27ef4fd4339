/* Loads plugin.c's library, emits an event, and closes it, for the tests of the command line.
 *
 *   plugin_host LIBRARY TIMES [threads] [fork] [fault] [leak]
 *
 * With `threads` it has another thread before the library comes. With `fork` a child emits, too, between the two. With
 * `fault` it ends by a fault of its own when the library is gone. With `leak` it emits nothing, does not unregister the
 * event, and goes on until its input ends. Ends with 0 if the library could be unloaded each time and, where it could
 * emit, the process takes part in the owner's barriers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* idle(void* nothing) {
  pause();
  return nothing;
}

/* MEMBARRIER_CMD_GET_REGISTRATIONS, Linux 6.3; older headers do not have it. */
static int is_registered(void) {
  for (int i = 0; i < 5000; ++i, usleep(1000)) {
    const long registrations = syscall(SYS_membarrier, 1 << 9, 0, 0);
    if (registrations < 0 || (registrations & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0) return 1;
  }
  return 0;
}

static int emit_once(const char* path, uint32_t n, int with_child, int leak) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 10;
  }
  int (*const start)(void) = (int (*)(void))dlsym(library, "plugin_start");
  int (*const emit)(uint32_t) = (int (*)(uint32_t))dlsym(library, "plugin_emit");
  void (*const stop)(void) = (void (*)(void))dlsym(library, "plugin_stop");
  if (start() != 0) return 11;
  if (!leak && emit(n) != 0) return 12;
  if (with_child) {
    const pid_t child = fork();
    if (child == 0) _exit(emit(n + 1000) == 0 ? 0 : 1);
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) return 13;
  }
  if (!leak) stop();
  if (dlclose(library) != 0) return 14;
  return dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL ? 0 : 15;
}

int main(int argc, char** argv) {
  int threads = 0, with_child = 0, fault = 0, leak = 0;
  for (int i = 3; i < argc; ++i) {
    threads |= strcmp(argv[i], "threads") == 0;
    with_child |= strcmp(argv[i], "fork") == 0;
    leak |= strcmp(argv[i], "leak") == 0;
    fault |= strcmp(argv[i], "fault") == 0;
  }
  pthread_t thread;
  if (threads && pthread_create(&thread, NULL, idle, NULL) != 0) return 9;
  for (int i = 0; i < atoi(argv[2]); ++i) {
    const int status = emit_once(argv[1], (uint32_t)i, with_child, leak);
    if (status != 0) return status;
  }
  if (leak) {
    puts("closed");
    fflush(stdout);
    while (getchar() != EOF) continue;
    return 0;
  }
  if (fault) *(volatile int*)8 = 0;
  return is_registered() ? 0 : 16;
}
