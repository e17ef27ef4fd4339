/* Clients of a mounted tree that know nothing but its files.
 *
 *   crowd together FOLDER CLIENTS WRITES   so many processes open, register and write, all with their files open at
 *                                          the same time; prints "written N"
 *   crowd mortal FOLDER CLIENTS            so many open, register, write, unregister and delete without end, one after
 *                                          the other, and are killed in the middle of it
 *   crowd inside FOLDER CLIENTS            so many are killed inside an ioctl, one after the other: their memory does
 *                                          not answer who reads it for them
 *
 * Exit status 77: this machine has not what it takes, which is said. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../user_events_abi.h"

static char data_file[4096];
static uint32_t word;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int open_data(void) { return open(data_file, O_RDWR | O_CLOEXEC); }

/* The write index, or -1. */
static int register_event(int file, const char* declaration) {
  struct user_reg reg = {sizeof reg, 0, sizeof word, 0, (uintptr_t)&word, (uintptr_t)declaration, 0};
  return ioctl(file, DIAG_IOCSREG, &reg) == 0 ? (int)reg.write_index : -1;
}

static long write_events(int file, int index, uint32_t source, long count) {
  long written = 0;
  for (long i = 0; i < count; ++i) {
    uint32_t record[3] = {(uint32_t)index, source, (uint32_t)i};
    if (word != 0 && write(file, record, sizeof record) == sizeof record) ++written;
  }
  return written;
}

/* Says how many it wrote through `out`, once all others are open, too: then `gate` has an end. */
static void member(uint32_t number, long writes, int gate, int out) {
  char byte, declaration[64];
  long written = -1;
  /* Every other one has an event of its own. */
  snprintf(declaration, sizeof declaration,
           number % 2 == 0 ? "crowd_all u32 source;u32 i" : "crowd_%u u32 source;u32 i", number);
  const int file = open_data();
  const int index = file < 0 ? -1 : register_event(file, declaration);
  if (index < 0) perror("crowd: a client");
  if (write(out, &written, sizeof written) != sizeof written) _exit(1);
  if (read(gate, &byte, 1) != 0) _exit(1);
  written = index < 0 ? 0 : write_events(file, index, number, writes);
  if (write(out, &written, sizeof written) != sizeof written) _exit(1);
  _exit(index < 0 || close(file) != 0);
}

static int together(long clients, long writes) {
  int gate[2], out[2], status, bad = 0;
  long sum = 0, one;
  if (pipe(gate) != 0 || pipe(out) != 0) fail("pipe");
  for (long i = 0; i < clients; ++i) {
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      close(gate[1]);
      member((uint32_t)i, writes, gate[0], out[1]);
    }
  }
  for (long i = 0; i < clients; ++i) {
    if (read(out[0], &one, sizeof one) != sizeof one) fail("read");
  }
  close(gate[1]);
  for (long i = 0; i < clients; ++i, sum += one) {
    if (read(out[0], &one, sizeof one) != sizeof one) fail("read");
  }
  while (wait(&status) > 0) bad += status != 0;
  printf("written %ld\n", sum);
  return bad != 0;
}

static void live(void) {
  struct user_unreg unreg = {sizeof unreg, 0, 0, 0, (uintptr_t)&word};
  for (;;) {
    const int file = open_data();
    const int index = register_event(file, "mortal u32 source;u32 i");
    write_events(file, index, 0, 3);
    ioctl(file, DIAG_IOCSUNREG, &unreg);
    ioctl(file, DIAG_IOCSDEL, "mortal");
    close(file);
  }
}

static int mortal(long clients) {
  for (long i = 0; i < clients; ++i) {
    const pid_t child = fork();
    if (child == 0) live();
    usleep((useconds_t)(500 + i * 137 % 5000));
    kill(child, SIGKILL);
    if (waitpid(child, NULL, 0) != child) fail("waitpid");
  }
  return 0;
}

struct silent_page {
  char* address;
  int faults;
};

/* A page that is never there. */
static struct silent_page silent_page(void) {
  struct silent_page page = {MAP_FAILED, (int)syscall(SYS_userfaultfd, O_CLOEXEC)};
  struct uffdio_api api = {.api = UFFD_API};
  if (page.faults < 0 || ioctl(page.faults, UFFDIO_API, &api) != 0) return page;
  char* const address = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(uintptr_t)address, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(page.faults, UFFDIO_REGISTER, &range) == 0) page.address = address;
  return page;
}

struct told {
  int faults, out;
};

static void* tell_that_it_is_read(void* told) {
  const struct told* const to = told;
  struct pollfd ready = {to->faults, POLLIN, 0};
  if (poll(&ready, 1, -1) == 1 && write(to->out, "!", 1) != 1) _exit(1);
  return NULL;
}

static void wait_inside(int out) {
  const struct silent_page page = silent_page();
  struct told told = {page.faults, out};
  pthread_t thread;
  if (page.address == MAP_FAILED) _exit(77);
  const int file = open_data();
  if (file < 0 || pthread_create(&thread, NULL, tell_that_it_is_read, &told) != 0) _exit(1);
  register_event(file, page.address);
  pause();
}

static int inside(long clients) {
  for (long i = 0; i < clients; ++i) {
    int out[2], status;
    char byte;
    if (pipe(out) != 0) fail("pipe");
    const pid_t child = fork();
    if (child == 0) wait_inside(out[1]);
    close(out[1]);
    const ssize_t got = read(out[0], &byte, 1);
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child) fail("waitpid");
    close(out[0]);
    if (got == 1) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 77) fail("a client that does not get into its ioctl");
    puts("no userfaultfd for the system's own reads here");
    return 77;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  snprintf(data_file, sizeof data_file, "%s/user_events_data", argv[2]);
  const long clients = atol(argv[3]);
  if (strcmp(argv[1], "mortal") == 0) return mortal(clients);
  if (strcmp(argv[1], "inside") == 0) return inside(clients);
  return argc == 5 && strcmp(argv[1], "together") == 0 ? together(clients, atol(argv[4])) : 2;
}
