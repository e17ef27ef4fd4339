/* Takes the samples of an event by perf_event_open(2), as a program does that knows only the kernel:
 *
 *     landtrace run --tracefs -- example_perf_consumer SYSTEM:EVENT [--samples N] [--pid PID] [--filter FILTER]
 *
 * It opens the event on each CPU, maps a ring for each, and prints "CPU TID BYTES" of each sample, BYTES the event's
 * payload in hex; "lost N" where samples are missing; and at the end what it has counted. It ends after N samples
 * (10), or when the process is gone. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMaxCpus = 256, kDataPages = 16, kHeader = 8 };

static long page;
static struct {
  int fd;
  struct perf_event_mmap_page* ring;
} cpus[kMaxCpus];
static struct pollfd polled[kMaxCpus];

static void die(const char* what) {
  perror(what);
  exit(1);
}

/* The event's number in tracefs. */
static unsigned long id_of(const char* event) {
  char path[256];
  const char* colon = strchr(event, ':');
  if (!colon) {
    fprintf(stderr, "want SYSTEM:EVENT\n");
    exit(2);
  }
  snprintf(path, sizeof path, "/sys/kernel/tracing/events/%.*s/%s/id", (int)(colon - event), event, colon + 1);
  FILE* file = fopen(path, "r");
  unsigned long id = 0;
  if (!file || fscanf(file, "%lu", &id) != 1) die(path);
  fclose(file);
  return id;
}

static int open_on(int cpu, unsigned long id, pid_t pid, const char* filter) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = sizeof attr;
  attr.config = id;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
  attr.disabled = 1;
  attr.inherit = 1;
  attr.wakeup_events = 1;
  const int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) die("perf_event_open");
  if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) != 0) die("the filter");
  return fd;
}

/* A record may go round the end of the ring. */
static void copy_out(struct perf_event_mmap_page* ring, uint64_t from, void* to, size_t size) {
  const char* data = (const char*)ring + ring->data_offset;
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = data[(from + i) % ring->data_size];
}

static void print_sample(const char* record) {
  uint32_t tid, cpu, raw;
  memcpy(&tid, record + 12, 4);
  memcpy(&cpu, record + 16, 4);
  memcpy(&raw, record + 24, 4);
  printf("%u %u ", cpu, tid);
  for (uint32_t i = kHeader; i < raw; ++i) printf("%02x", (unsigned char)record[28 + i]);
  printf("\n");
}

/* Samples that were there, at most so many. */
static long take(struct perf_event_mmap_page* ring, long most) {
  const uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = ring->data_tail;
  static char record[65536];
  long taken = 0;
  while (tail < head && taken < most) {
    struct perf_event_header header;
    copy_out(ring, tail, &header, sizeof header);
    copy_out(ring, tail, record, header.size);
    tail += header.size;
    if (header.type == PERF_RECORD_SAMPLE) {
      print_sample(record);
      ++taken;
    } else if (header.type == PERF_RECORD_LOST) {
      uint64_t lost;
      memcpy(&lost, record + 16, sizeof lost);
      printf("lost %llu\n", (unsigned long long)lost);
    }
  }
  __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
  return taken;
}

int main(int argc, char** argv) {
  const char *event = NULL, *filter = NULL;
  long samples = 10;
  pid_t pid = -1;
  for (int i = 1; i < argc; ++i) {
    const int more = i + 1 < argc;
    if (more && !strcmp(argv[i], "--samples"))
      samples = atol(argv[++i]);
    else if (more && !strcmp(argv[i], "--pid"))
      pid = atoi(argv[++i]);
    else if (more && !strcmp(argv[i], "--filter"))
      filter = argv[++i];
    else
      event = argv[i];
  }
  if (!event) {
    fprintf(stderr, "usage: perf_consumer SYSTEM:EVENT [--samples N] [--pid PID] [--filter FILTER]\n");
    return 2;
  }
  page = sysconf(_SC_PAGESIZE);
  const unsigned long id = id_of(event);
  int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (count > kMaxCpus) count = kMaxCpus;
  for (int cpu = 0; cpu < count; ++cpu) {
    cpus[cpu].fd = open_on(cpu, id, pid, filter);
    cpus[cpu].ring = mmap(NULL, (size_t)((1 + kDataPages) * page), PROT_READ | PROT_WRITE, MAP_SHARED, cpus[cpu].fd, 0);
    if (cpus[cpu].ring == MAP_FAILED) die("mmap");
    polled[cpu] = (struct pollfd){cpus[cpu].fd, POLLIN, 0};
  }
  for (int cpu = 0; cpu < count; ++cpu) {
    if (ioctl(cpus[cpu].fd, PERF_EVENT_IOC_ENABLE, 0) != 0) die("ENABLE");
  }
  fprintf(stderr, "on\n");
  for (int gone = 0; samples > 0 && gone < count;) {
    if (poll(polled, (nfds_t)count, -1) < 0 && errno != EINTR) die("poll");
    gone = 0;
    for (int cpu = 0; cpu < count; ++cpu) {
      samples -= take(cpus[cpu].ring, samples);
      gone += (polled[cpu].revents & POLLHUP) != 0;
    }
  }
  uint64_t total = 0, value;
  for (int cpu = 0; cpu < count; ++cpu) {
    if (read(cpus[cpu].fd, &value, sizeof value) != sizeof value) die("read");
    total += value;
  }
  printf("counted %llu\n", (unsigned long long)total);
  return 0;
}
