// A program for the tests: static, and with memory for the owner to look at. It does what the lines on its standard
// input say and answers each with one line. A child takes its parent's place at the input until it quits.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct __attribute__((packed)) reg {
  uint32_t size;
  uint8_t bit, enable_size;
  uint16_t flags;
  uint64_t address, name;
  uint32_t index;
};
struct __attribute__((packed)) unreg {
  uint32_t size;
  uint8_t bit, reserved;
  uint16_t reserved2;
  uint64_t address;
};

static volatile uint32_t word;
static struct reg reg;
static struct unreg unreg;
static char name[64];
static char** arguments;
extern char** environ;

static void say(unsigned long number) {
  char text[32];
  const int n = snprintf(text, sizeof text, "%lu\n", number);
  if (write(1, text, n) != n) _exit(3);
}

// By byte: what is not read yet belongs to whoever has the input then.
static int read_line(char* line, size_t size) {
  size_t n = 0;
  while (n + 1 < size && read(0, line + n, 1) == 1) {
    if (line[n] == '\n') {
      line[n] = 0;
      return 1;
    }
    ++n;
  }
  return 0;
}

// Returns in the new process; in the old one when the new one, and whoever it has made, have ended.
static void fork_and_wait(int through_another) {
  int end[2];
  char byte;
  if (pipe2(end, O_CLOEXEC) != 0) _exit(4);
  const pid_t child = fork();
  if (child == 0) {
    close(end[0]);
    if (through_another && fork() != 0) _exit(0);
    say(getpid());
    return;
  }
  close(end[1]);
  waitpid(child, NULL, through_another ? 0 : WNOHANG);
  while (read(end[0], &byte, 1) > 0) {
  }
  close(end[0]);
  if (!through_another) waitpid(child, NULL, 0);
}

static void make_short_child(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

static void do_line(const char* line) {
  if (strncmp(line, "reg ", 4) == 0) {  // a registration of that name is ready at the address
    strcpy(name, line + 4);
    reg = (struct reg){sizeof reg, 0, 4, 0, (uintptr_t)&word, (uintptr_t)name, 99};
    say((uintptr_t)&reg);
  } else if (strcmp(line, "unreg") == 0) {
    unreg = (struct unreg){sizeof unreg, 0, 0, 0, (uintptr_t)&word};
    say((uintptr_t)&unreg);
  } else if (strcmp(line, "word") == 0) {
    say(word);
  } else if (strcmp(line, "index") == 0) {
    say(reg.index);
  } else if (strcmp(line, "at") == 0) {
    say((uintptr_t)&word);
  } else if (strcmp(line, "protect") == 0) {  // a registration that cannot be written, of a name that may be anywhere
    void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, &reg, sizeof reg);
    mprotect(page, 4096, PROT_READ);
    say((uintptr_t)page);
  } else if (strcmp(line, "hide") == 0) {  // the same in memory that the program cannot read
    void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, &reg, sizeof reg);
    mprotect(page, 4096, PROT_NONE);
    say((uintptr_t)page);
  } else if (strcmp(line, "fork") == 0) {
    fork_and_wait(0);
  } else if (strcmp(line, "orphan") == 0) {  // the grandchild answers, its parent has ended
    fork_and_wait(1);
  } else if (strcmp(line, "leave") == 0) {  // the child answers, its parent has ended
    const pid_t parent = getpid();
    if (fork() != 0) _exit(0);
    while (getppid() == parent) usleep(100);
    say(getpid());
  } else if (strcmp(line, "vfork") == 0) {  // the child is another program
    const pid_t child = vfork();
    if (child == 0) {
      execve("/proc/self/exe", arguments, environ);
      _exit(5);
    }
    waitpid(child, NULL, 0);
  } else if (strcmp(line, "vfork_and_wait") == 0) {  // the child shares the memory until it is killed; nobody answers
    const pid_t child = vfork();
    if (child == 0) {
      for (;;) pause();
    }
    waitpid(child, NULL, 0);
  } else if (strncmp(line, "storm ", 6) == 0) {  // so many children that do nothing
    for (int left = atoi(line + 6); left > 0; --left) make_short_child();
    say(0);
  } else if (strcmp(line, "exec") == 0) {
    execve("/proc/self/exe", arguments, environ);
    _exit(5);
  } else {
    _exit(6);
  }
}

int main(int argc, char** argv) {
  char line[128];
  (void)argc;
  arguments = argv;
  say(getpid());
  while (read_line(line, sizeof line) && strcmp(line, "quit") != 0) do_line(line);
  return 0;
}
