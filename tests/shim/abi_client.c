/* A program that knows only the kernel's user_events ABI. argv[1] names what it does; it exits with 0 when every answer
 * was the kernel's, and says on stderr which was not. argv[2] is the file to open. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../user_events_abi.h"

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "abi_client:%d: %s (errno %d)\n", __LINE__, #condition, errno); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

static const char* path;
static char** self;
static uint32_t word;

static long now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Of each wait for something that comes. */
static const long patience_us = 30000000;

static int open_data(int flags) {
  int fd = open(path, flags);
  CHECK(fd >= 0);
  return fd;
}

static int reg(int fd, const char* text, uint32_t* where) {
  struct user_reg r = {sizeof r, 0, 4, 0, (uintptr_t)where, (uintptr_t)text, 0};
  if (ioctl(fd, DIAG_IOCSREG, &r) != 0) return -errno;
  return (int)r.write_index;
}

static int unreg(int fd, uint32_t* where) {
  struct user_unreg u = {sizeof u, 0, 0, 0, (uintptr_t)where};
  return ioctl(fd, DIAG_IOCSUNREG, &u) != 0 ? -errno : 0;
}

static ssize_t emit(int fd, int32_t index, uint32_t value) {
  struct iovec v[2] = {{&index, sizeof index}, {&value, sizeof value}};
  return writev(fd, v, 2);
}

static void wait_child(pid_t pid) {
  int status;
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void wait_for_word(uint32_t wanted) {
  for (long end = now_us() + patience_us; *(volatile uint32_t*)&word != wanted && now_us() < end;) usleep(1000);
  CHECK(*(volatile uint32_t*)&word == wanted);
}

/* Three events through each of the ways to duplicate a descriptor, and after the first was closed. */
static void duplicates(void) {
  int fd = open_data(O_RDWR);
  int index = reg(fd, "dup_event u32 n", &word);
  CHECK(index >= 0 && word == 1);
  int a = dup(fd), b = dup2(fd, 57), c = dup3(fd, 58, O_CLOEXEC), d = fcntl(fd, F_DUPFD, 60);
  CHECK(a >= 0 && b == 57 && c == 58 && d >= 60);
  CHECK(close(fd) == 0);
  CHECK(emit(fd, index, 0) == -1 && errno == EBADF);
  int all[4] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) CHECK(emit(all[i], index, (uint32_t)i) == 8);
  int32_t buffer[2] = {index, 4};
  CHECK(write(a, buffer, 8) == 8);
  CHECK(pwrite(a, buffer, 8, 100) == 8);
  int other = open("/dev/null", O_RDWR);
  CHECK(dup2(other, b) == b);
  CHECK(write(b, "to /dev/null", 12) == 12); /* no longer the event file */
  for (int i = 0; i < 4; ++i) CHECK(close(all[i]) == 0);
  fd = open("/dev/null", O_RDWR);
  CHECK(write(fd, "x", 1) == 1);
}

/* The child has a copy of the word and of the file; what it registers is its own. */
static void forks(void) {
  int fd = open_data(O_RDWR);
  int index = reg(fd, "fork_event u32 n", &word);
  CHECK(index >= 0 && word == 1);
  pid_t child = fork();
  if (child == 0) {
    CHECK(emit(fd, index, 1) == 8);
    uint32_t mine = 0;
    int second = reg(fd, "fork_child u32 n", &mine);
    CHECK(second == index + 1 && mine == 1);
    CHECK(reg(fd, "fork_event u32 n", &word) == -EADDRINUSE); /* the copy is registered */
    CHECK(emit(fd, second, 2) == 8);
    CHECK(unreg(fd, &word) == 0 && word == 0);
    _exit(0);
  }
  wait_child(child);
  CHECK(word == 1);
  CHECK(emit(fd, index + 1, 3) == 8); /* same file, so the child's index is there, too */
  CHECK(emit(fd, index, 4) == 8);
}

/* Both copies of the word follow the event. Tells the test what has happened. */
static void fork_follows(void) {
  int fd = open_data(O_RDWR);
  CHECK(reg(fd, "follow_event u32 n", &word) >= 0);
  int from_child[2];
  char byte = 'c';
  CHECK(pipe(from_child) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(write(from_child[1], &byte, 1) == 1); /* it has come forward: the parent may be killed */
    wait_for_word(1);
    CHECK(write(1, "seen by the child\n", 18) == 18);
    CHECK(write(from_child[1], &byte, 1) == 1);
    wait_for_word(0);
    _exit(0);
  }
  CHECK(read(from_child[0], &byte, 1) == 1);
  CHECK(write(1, "ready\n", 6) == 6);
  wait_for_word(1);
  CHECK(read(from_child[0], &byte, 1) == 1);
  CHECK(write(1, "seen by both\n", 13) == 13);
  wait_for_word(0);
  wait_child(child);
}

static void exec_writer(const char* fd_text, const char* index_text) {
  execl("/proc/self/exe", self[0], "write-on", path, fd_text, index_text, (char*)NULL);
  _exit(99);
}

static void execs(int by_vfork) {
  int fd = open_data(O_RDWR), hidden = open_data(O_RDWR | O_CLOEXEC);
  int index = reg(fd, "exec_event u32 n", &word);
  CHECK(index >= 0 && reg(hidden, "exec_hidden u32 n", &word) == -EADDRINUSE);
  char fd_text[16], hidden_text[16], index_text[16];
  snprintf(fd_text, sizeof fd_text, "%d", fd);
  snprintf(hidden_text, sizeof hidden_text, "%d", hidden);
  snprintf(index_text, sizeof index_text, "%d", index);
  pid_t child = by_vfork ? vfork() : fork();
  if (child == 0) exec_writer(fd_text, index_text);
  wait_child(child);
  child = by_vfork ? vfork() : fork();
  if (child == 0) {
    close(fd); /* in a vfork child this must not touch the parent's table */
    exec_writer(hidden_text, "closed");
  }
  wait_child(child);
  CHECK(word == 1);
  CHECK(emit(fd, index, 5) == 8);
}

static void write_on(int fd, const char* index_text) {
  if (strcmp(index_text, "closed") == 0) {
    CHECK(emit(fd, 0, 0) == -1 && errno == EBADF);
  } else {
    CHECK(emit(fd, atoi(index_text), 77) == 8);
    uint32_t mine = 0;
    int index = reg(fd, "exec_child u32 n", &mine);
    CHECK(index >= 0 && mine == 1);
    CHECK(emit(fd, index, 78) == 8);
  }
}

static void send_fd(int socket, int fd) {
  char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec v = {&byte, 1};
  struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  CHECK(sendmsg(socket, &m, 0) == 1);
}

static int receive_fd(int socket) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec v = {&byte, 1};
  struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  CHECK(recvmsg(socket, &m, 0) == 1);
  int fd;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
  return fd;
}

/* The receiver never opens anything. */
static void passes(void) {
  int pair[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  pid_t child = fork();
  if (child == 0) {
    int fd = receive_fd(pair[1]);
    CHECK(emit(fd, 0, 11) == 8); /* the sender's registration, on the same file */
    uint32_t mine = 0;
    int index = reg(fd, "passed_event u32 n", &mine);
    CHECK(index == 1 && mine == 1);
    CHECK(emit(fd, index, 12) == 8);
    _exit(0);
  }
  int fd = open_data(O_RDWR);
  CHECK(reg(fd, "sender_event u32 n", &word) == 0);
  int own[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, own) == 0);
  send_fd(own[0], fd);
  CHECK(setenv("LANDTRACE_SOCKET", "/nonexistent/elsewhere", 1) == 0); /* the program stays where it is */
  int copy = receive_fd(own[1]);
  CHECK(emit(copy, 0, 10) == 8 && close(copy) == 0);
  send_fd(pair[0], fd);
  CHECK(close(fd) == 0); /* the file lives on in the socket and in the child */
  wait_child(child);
}

static void* hammer(void* number) {
  for (int i = 0; i < 50; ++i) {
    uint32_t mine[2] = {0, 0};
    char text[64];
    int fd = open_data(O_RDWR | O_CLOEXEC);
    snprintf(text, sizeof text, "thread_%d u32 n", (int)(intptr_t)number);
    int own = reg(fd, text, &mine[0]);
    int shared = reg(fd, "thread_shared u32 n", &mine[1]);
    CHECK(own >= 0 && shared >= 0 && own != shared && mine[0] == 1 && mine[1] == 1);
    int copy = dup(fd);
    for (uint32_t n = 0; n < 20; ++n) CHECK(emit(n % 2 ? fd : copy, n % 2 ? own : shared, n) == 8);
    CHECK(unreg(fd, &mine[0]) == 0 && mine[0] == 0);
    CHECK(unreg(copy, &mine[1]) == 0);
    CHECK(unreg(fd, &mine[1]) == -ENOENT);
    CHECK(close(fd) == 0 && close(copy) == 0);
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[8];
  for (intptr_t i = 0; i < 8; ++i) CHECK(pthread_create(&all[i], NULL, hammer, (void*)i) == 0);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(all[i], NULL) == 0);
}

static void bad_pointers(void) {
  int fd = open_data(O_RDWR);
  CHECK(ioctl(fd, DIAG_IOCSREG, NULL) == -1 && errno == EFAULT);
  CHECK(ioctl(fd, DIAG_IOCSUNREG, (void*)8) == -1 && errno == EFAULT);
  CHECK(ioctl(fd, DIAG_IOCSDEL, (void*)8) == -1 && errno == EFAULT);
  CHECK(ioctl(fd, 0x1234, NULL) == -1 && errno == ENOTTY);
  CHECK(reg(fd, (const char*)16, &word) == -EFAULT);
  struct user_reg bad_flags = {sizeof bad_flags, 0, 4, 8, (uintptr_t)&word, 16, 0};
  CHECK(ioctl(fd, DIAG_IOCSREG, &bad_flags) == -1 && errno == EINVAL); /* the name is looked at last */
  char* page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(munmap(page + 4096, 4096) == 0);
  memset(page, 'n', 4096);
  CHECK(reg(fd, page + 4090, &word) == -EFAULT); /* no NUL before the end of the mapping */
  strcpy(page + 4080, "bad_event u32 n");
  int index = reg(fd, page + 4080, &word);
  CHECK(index >= 0);
  CHECK(write(fd, (void*)8, 8) == -1 && errno == EFAULT);
  CHECK(write(fd, page + 4092, 8) == -1 && errno == EFAULT);
  CHECK(writev(fd, (struct iovec*)8, 2) == -1 && errno == EFAULT);
  struct iovec bad[2] = {{&index, 4}, {(void*)8, 4}};
  CHECK(writev(fd, bad, 2) == -1 && errno == EFAULT);
  CHECK(writev(fd, bad, -1) == -1 && errno == EINVAL);
  CHECK(writev(fd, bad, 2000) == -1 && errno == EINVAL);
  CHECK(writev(fd, bad, 0) == 0);
  char byte;
  CHECK(read(fd, &byte, 1) == -1 && errno == EINVAL);
  errno = 4711;
  CHECK(emit(fd, index, 1) == 8);
  CHECK(errno == 4711); /* success leaves errno alone */
  int reader = open_data(O_RDONLY);
  CHECK(emit(reader, 0, 1) == -1 && errno == EBADF);
  char large[65540];
  memset(large, 0, sizeof large);
  memcpy(large, &index, 4);
  CHECK(write(fd, large, sizeof large) == sizeof large); /* 64 KiB of payload */
  struct iovec too_large[2] = {{large, sizeof large}, {large, 1}};
  CHECK(writev(fd, too_large, 2) == -1 && errno == E2BIG);
}

static int alarm_fd, alarm_index;
static volatile int alarms;
static void on_alarm(int signal) {
  (void)signal;
  int saved = errno;
  if (emit(alarm_fd, alarm_index, 0x80000000u | (uint32_t)alarms) == 8) ++alarms;
  errno = saved;
}

/* A handler that emits, interrupting emits. Prints how many events of each there were. */
static void signals(void) {
  alarm_fd = open_data(O_RDWR);
  alarm_index = reg(alarm_fd, "signal_event u32 n", &word);
  CHECK(alarm_index >= 0);
  signal(SIGALRM, on_alarm);
  struct itimerval every = {{0, 200}, {0, 200}}, stop = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  uint32_t n = 0;
  while (alarms < 500) CHECK(emit(alarm_fd, alarm_index, n++) == 8);
  setitimer(ITIMER_REAL, &stop, NULL);
  printf("%u\n", n + (uint32_t)alarms);
}

/* Writes until nobody listens any more; the test kills the owner. */
static void survives(void) {
  int fd = open_data(O_RDWR);
  int index = reg(fd, "survive_event u32 n", &word);
  CHECK(index >= 0 && word == 1);
  CHECK(write(1, "ready\n", 6) == 6);
  for (int i = 0; i < 20000; ++i) {
    ssize_t n = emit(fd, index, 1);
    if (n == -1) {
      CHECK(errno == EBADF);
      break;
    }
    usleep(1000);
  }
  CHECK(emit(fd, index, 1) == -1 && errno == EBADF);
  uint32_t other = 0;
  CHECK(reg(fd, "survive_other", &other) < 0); /* refused, not crashed */
  CHECK(fork() != 0 || (_exit(0), 1));
  CHECK(wait(NULL) > 0);
  CHECK(close(fd) == 0);
}

/* The test stops the owner, and says so. What asks it fails after some seconds, and from then on at once; what does not
 * goes on. */
static void outlasts_a_stop(void) {
  int fd = open_data(O_RDWR);
  int index = reg(fd, "stop_event u32 n", &word);
  CHECK(index >= 0 && word == 1);
  CHECK(write(1, "ready\n", 6) == 6);
  char byte;
  CHECK(read(0, &byte, 1) == 1);
  uint32_t other = 0;
  CHECK(reg(fd, "stop_other", &other) == -ENODEV);
  /* Each would ask for three seconds; a machine that stands still for some is no failure. */
  int at_once = 0;
  for (int i = 0; i < 5 && !at_once; ++i) {
    struct timeval before, after;
    gettimeofday(&before, NULL);
    CHECK(reg(fd, "stop_other", &other) == -ENODEV);
    pid_t child = fork();
    if (child == 0) _exit(0);
    wait_child(child);
    gettimeofday(&after, NULL);
    at_once = after.tv_sec - before.tv_sec <= 1;
  }
  CHECK(at_once);
  CHECK(emit(fd, index, 7) == 8);
}

/* No domain: as if the shim were not there. */
static void without_owner(void) {
  CHECK(open(path, O_RDWR) == -1 && errno == ENOENT);
  CHECK(openat(AT_FDCWD, path, O_RDWR) == -1 && errno == ENOENT);
  int fd = open("/dev/null", O_RDWR);
  struct user_reg r = {.size = sizeof r};
  CHECK(ioctl(fd, DIAG_IOCSREG, &r) == -1 && errno == ENOTTY);
  CHECK(write(fd, "x", 1) == 1 && close(fd) == 0);
  CHECK(close(fd) == -1 && errno == EBADF);
}

/* A daemon closes all that it may have inherited; then it works as before. */
static void closes_all(void) {
  int fd = open_data(O_RDWR);
  CHECK(reg(fd, "first_event u32 n", &word) == 0);
  for (int i = 3; i < 4096; ++i) close(i);
  CHECK(emit(fd, 0, 1) == -1 && errno == EBADF);
  fd = open_data(O_RDWR);
  uint32_t second = 0;
  CHECK(reg(fd, "second_event u32 n", &second) == 0 && second == 1);
  CHECK(emit(fd, 0, 1) == 8);
  close_range(3, ~0u, 0);
  fd = open_data(O_RDWR);
  uint32_t third = 0;
  CHECK(reg(fd, "third_event u32 n", &third) == 0 && third == 1);
  CHECK(emit(fd, 0, 1) == 8);
}

/* argv[3] events from each of argv[4] children, forked as fast as they come. */
static void fork_bomb(int events, int children) {
  int fd = open_data(O_RDWR);
  int index = reg(fd, "bomb_event u32 n", &word);
  CHECK(index >= 0);
  for (int i = 0; i < children; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      for (int n = 0; n < events; ++n) CHECK(emit(fd, index, (uint32_t)n) == 8);
      if (i % 4 == 0) kill(getpid(), SIGKILL);
      _exit(0);
    }
    if (i % 16 == 15) {
      while (wait(NULL) > 0) continue;
    }
  }
  while (wait(NULL) > 0) continue;
}

static void many_events(int count) {
  int fd = open_data(O_RDWR);
  uint32_t* words = calloc((size_t)count, sizeof *words);
  for (int i = 0; i < count; ++i) {
    char text[64];
    snprintf(text, sizeof text, "many_%d u32 a;u64 b;char[16] c", i);
    CHECK(reg(fd, text, &words[i]) == i);
    CHECK(words[i] == 1);
  }
  char payload[4 + 28] = {0};
  for (int i = 0; i < count; ++i) {
    memcpy(payload, &i, 4);
    CHECK(write(fd, payload, sizeof payload) == sizeof payload);
  }
}

/* A write that the shim does not see. */
static long raw_write(int fd, const void* data, size_t size) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(1L), "D"((long)fd), "S"(data), "d"(size) : "rcx", "r11", "memory");
  return result;
#else
  return syscall(SYS_write, fd, data, size);
#endif
}

static void past_shim(void) {
  int fd = open_data(O_RDWR);
  CHECK(reg(fd, "past_event u32 n", &word) == 0);
  uint32_t event[2] = {0, 1}, unknown[2] = {7, 1};
  CHECK(raw_write(fd, event, sizeof event) == sizeof event);
  CHECK(raw_write(fd, unknown, sizeof unknown) >= 0); /* nobody can say that it is dropped */
  CHECK(raw_write(fd, "", 0) >= 0);
  static char large[70000];
  raw_write(fd, large, sizeof large);
  FILE* file = fdopen(dup(fd), "w");
  event[1] = 2;
  CHECK(file != NULL && fwrite(event, 1, sizeof event, file) == sizeof event && fclose(file) == 0);
  event[1] = 3;
  CHECK(write(fd, event, sizeof event) == sizeof event); /* the file is as good as before */
}

/* A path beside the data file. */
static const char* beside(const char* name) {
  static char text[4096];
  snprintf(text, sizeof text, "%s", path);
  strcpy(strrchr(text, '/') + 1, name);
  return text;
}

/* As the 2021 proposal has it; the test listens to everything. */
static void of_2021(void) {
  int page_fd = open(beside("user_events_mmap"), O_RDONLY);
  CHECK(page_fd >= 0);
  const volatile unsigned char* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, page_fd, 0);
  CHECK(page != MAP_FAILED && close(page_fd) == 0);
  int fd = open_data(O_RDWR);
  CHECK(write(fd, "early", 5) == -1);
  int place = ioctl(fd, _IOW('*', 0, char*), "plain_event u32 n");
  CHECK(place > 0 && page[place] != 0);
  uint32_t value = 2021;
  CHECK(write(fd, &value, sizeof value) == sizeof value);
  CHECK(ioctl(fd, DIAG_IOCSDEL, "plain_event") == -1 && errno == EBUSY);
  CHECK(open(beside("user_events_mmap"), O_RDWR) == -1 && errno == EACCES);
}

/* As 6.0 and 6.1 have it, in a domain with today's ways. */
static void of_6_1(void) {
  struct {
    uint32_t size;
    uint64_t name;
    uint32_t status_bit, write_index;
  } __attribute__((__packed__)) r = {20, (uintptr_t) "bit_event u32 n", 0, 0};
  int status = open(beside("user_events_status"), O_RDONLY);
  CHECK(status >= 0);
  const volatile unsigned char* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, status, 0);
  CHECK(page != MAP_FAILED);
  int fd = open_data(O_RDWR);
  CHECK(ioctl(fd, DIAG_IOCSREG, &r) == 0 && r.status_bit != 0 && r.write_index == 0);
  CHECK(page[r.status_bit / 8] & 1 << r.status_bit % 8);
  CHECK(emit(fd, (int32_t)r.write_index, 61) == 8);
  char text[256] = {0};
  size_t n = 0;
  for (ssize_t got; (got = read(status, text + n, 7)) != 0; n += (size_t)got) CHECK(got > 0);
  CHECK(strcmp(text, "bit_event # Used by ftrace\n\nActive: 1\nBusy: 1\n") == 0);
  CHECK(lseek(status, 0, SEEK_SET) == 0 && read(status, text, 3) == 3 && memcmp(text, "bit", 3) == 0);
  CHECK(write(status, "x", 1) == -1 && errno == EBADF);
  CHECK(ioctl(status, DIAG_IOCSREG, &r) == -1 && errno == ENOTTY);
  FILE* stream = fopen(beside("user_events_status"), "r");
  CHECK(stream == NULL); /* libc's own open is not ours */
}

/* Does what the lines on standard input say and answers each with a line. Words and write indices are by number, in
 * the order of the registrations. */
static uint32_t words[1024];
static int indices[1024], word_count, data_fd;
static const volatile unsigned char* status_page;

static int await_word(int i, uint32_t wanted) {
  for (long end = now_us() + patience_us; *(volatile uint32_t*)&words[i] != wanted && now_us() < end;) usleep(100);
  return *(volatile uint32_t*)&words[i] == wanted;
}

/* A word that is set is a promise that the event is taken; there may be a moment between two owners. */
static int emit_soon(int i, uint32_t value) {
  for (long end = now_us() + patience_us; now_us() < end;) {
    ssize_t written = emit(data_fd, indices[i], value);
    if (written == 8) return 1;
    if (errno != EBADF) return 0;
    usleep(100);
  }
  return 0;
}

static int obey_one(const char* line, pid_t* child) {
  int i = 0;
  unsigned value = 0;
  char text[256];
  if (sscanf(line, "reg %255[^\n]", text) == 1) {
    indices[word_count] = reg(data_fd, text, &words[word_count]);
    printf("%d\n", indices[word_count++]);
  } else if (sscanf(line, "multi %255[^\n]", text) == 1) {
    struct user_reg r = {sizeof r, 0, 4, 2, (uintptr_t)&words[word_count], (uintptr_t)text, 0};
    printf("%d\n", ioctl(data_fd, DIAG_IOCSREG, &r) == 0 ? indices[word_count++] = (int)r.write_index : -errno);
  } else if (sscanf(line, "bit %255[^\n]", text) == 1) { /* as in 6.1: its place in the page */
    struct __attribute__((packed)) { uint32_t size; uint64_t name_args; uint32_t status_bit, write_index; } r = {
        20, (uintptr_t)text, 0, 0};
    CHECK(ioctl(data_fd, DIAG_IOCSREG, &r) == 0);
    indices[word_count++] = (int)r.write_index;
    printf("%u\n", r.status_bit);
  } else if (strcmp(line, "map\n") == 0) {
    int status = open(beside("user_events_status"), O_RDONLY);
    status_page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, status, 0);
    puts(status_page != MAP_FAILED && close(status) == 0 ? "ok" : "no page");
  } else if (sscanf(line, "mapped %d", &i) == 1) {
    printf("%d\n", (status_page[i / 8] & 1 << i % 8) != 0);
  } else if (sscanf(line, "unreg %d", &i) == 1) {
    printf("%d\n", unreg(data_fd, &words[i]));
  } else if (sscanf(line, "again %d", &i) == 1) {
    printf("%d\n", reg(data_fd, "again u32 n", &words[i]));
  } else if (sscanf(line, "set %d %u", &i, &value) == 2) {
    words[i] = value;
    puts("ok");
  } else if (sscanf(line, "word %d", &i) == 1) {
    printf("%u\n", words[i]);
  } else if (sscanf(line, "await %d %u", &i, &value) == 2) {
    puts(await_word(i, value) ? "ok" : "never");
  } else if (sscanf(line, "emit %d %u", &i, &value) == 2) {
    ssize_t n = emit(data_fd, indices[i], value);
    printf("%d\n", n < 0 ? -errno : (int)n);
  } else if (sscanf(line, "soon %d %u", &i, &value) == 2) {
    puts(emit_soon(i, value) ? "ok" : "never");
  } else if (sscanf(line, "time %d %u", &i, &value) == 2) { /* the time of day when it was emitted */
    int done = await_word(i, 1) && emit_soon(i, value);
    printf("%ld\n", done ? now_us() : -1);
  } else if (sscanf(line, "child %d %u", &i, &value) == 2) { /* one that waits for its own word, and emits */
    *child = fork();
    if (*child == 0) _exit(await_word(i, 1) && emit_soon(i, value) ? 0 : 1);
    puts("ok");
  } else if (strcmp(line, "join\n") == 0) {
    int status;
    CHECK(waitpid(*child, &status, 0) == *child);
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  } else if (strcmp(line, "move\n") == 0) { /* another number for the file, kept over exec as it was */
    int fd = dup(data_fd);
    CHECK(fd >= 0 && close(data_fd) == 0);
    data_fd = fd;
    printf("%d\n", fcntl(fd, F_GETFD));
  } else if (strcmp(line, "flags\n") == 0) {
    printf("%d %d\n", fcntl(data_fd, F_GETFD), fcntl(data_fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK));
  } else if (strcmp(line, "exec\n") == 0) {
    execl("/proc/self/exe", self[0], "obeys", path, (char*)NULL);
  } else if (strcmp(line, "fork\n") == 0) { /* the child goes on, without a word */
    if (fork() != 0) _exit(0);
    puts("ok");
  } else if (strcmp(line, "close\n") == 0) {
    printf("%d\n", close(data_fd));
  } else {
    return 0;
  }
  return fflush(stdout) == 0;
}

static void obeys(void) {
  char line[300];
  pid_t child = -1;
  data_fd = open(path, O_WRONLY | O_CLOEXEC);
  puts(data_fd >= 0 ? "ready" : "no file");
  fflush(stdout);
  /* read() and not stdio: children share the standard input */
  for (size_t n = 0; read(0, line + n, 1) == 1;) {
    if (line[n++] != '\n') continue;
    line[n] = '\0';
    n = 0;
    CHECK(obey_one(line, &child));
  }
}

/* Eight threads emit without a pause until the test closes standard input; prints how many events were taken. */
static volatile int storming = 1;
static void* storm(void* number) {
  long taken = 0;
  while (storming) {
    ssize_t n = emit(data_fd, indices[0], (uint32_t)(intptr_t)number);
    if (n == 8) ++taken;
    else CHECK(n == -1 && errno == EBADF);
  }
  return (void*)taken;
}

static void storms(void) {
  data_fd = open_data(O_RDWR);
  CHECK((indices[0] = reg(data_fd, "storm_event u32 n", &words[0])) == 0);
  pthread_t all[8];
  for (intptr_t i = 0; i < 8; ++i) CHECK(pthread_create(&all[i], NULL, storm, (void*)i) == 0);
  CHECK(write(1, "ready\n", 6) == 6);
  char byte;
  CHECK(read(0, &byte, 1) == 0);
  storming = 0;
  long sum = 0;
  for (int i = 0; i < 8; ++i) {
    void* taken;
    CHECK(pthread_join(all[i], &taken) == 0);
    sum += (long)taken;
  }
  printf("%ld\n", sum);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  self = argv;
  path = argv[2];
  const char* what = argv[1];
  if (strcmp(what, "duplicates") == 0)
    duplicates();
  else if (strcmp(what, "forks") == 0)
    forks();
  else if (strcmp(what, "fork-follows") == 0)
    fork_follows();
  else if (strcmp(what, "execs") == 0)
    execs(0);
  else if (strcmp(what, "vforks") == 0)
    execs(1);
  else if (strcmp(what, "write-on") == 0 && argc == 5)
    write_on(atoi(argv[3]), argv[4]);
  else if (strcmp(what, "passes") == 0)
    passes();
  else if (strcmp(what, "threads") == 0)
    threads();
  else if (strcmp(what, "bad-pointers") == 0)
    bad_pointers();
  else if (strcmp(what, "signals") == 0)
    signals();
  else if (strcmp(what, "survives") == 0)
    survives();
  else if (strcmp(what, "outlasts-a-stop") == 0)
    outlasts_a_stop();
  else if (strcmp(what, "without-owner") == 0)
    without_owner();
  else if (strcmp(what, "closes-all") == 0)
    closes_all();
  else if (strcmp(what, "fork-bomb") == 0 && argc == 5)
    fork_bomb(atoi(argv[3]), atoi(argv[4]));
  else if (strcmp(what, "many") == 0 && argc == 4)
    many_events(atoi(argv[3]));
  else if (strcmp(what, "past-shim") == 0)
    past_shim();
  else if (strcmp(what, "of-2021") == 0)
    of_2021();
  else if (strcmp(what, "of-6.1") == 0)
    of_6_1();
  else if (strcmp(what, "obeys") == 0)
    obeys();
  else if (strcmp(what, "storms") == 0)
    storms();
  else
    return 2;
  return 0;
}
