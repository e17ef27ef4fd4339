/* A program that emits events, for the tests of the command line.
 *
 *   producer [--abi] [--event NAME] [--count N] [--threads T] [--children C] [--wait MS] [--pause US]
 *            [--types | --text TEXT] [--exit STATUS | --kill SIGNAL] [--hold] [--outlast N]
 *
 * Each thread emits N events NAME with its own number (by child and thread) and a sequence number; with --pause it
 * sleeps after each. --children forks C more that do the same. --wait waits for an enabled event first, at most so
 * long. With --types there are a change of -2 to 2, a load and a share in place of the numbers, with --text this
 * text. With --abi it knows only the kernel's interface; a text is then of any length, behind the sequence number. With
 * --hold it has the event, emits none and stays until it is killed. With --outlast each thread stays behind its events
 * until the program's parent has gone to sleep N times more. At the end it prints "emitted TOTAL". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <landtrace/landtrace.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../user_events_abi.h"

static struct landtrace_event event = LANDTRACE_EVENT_INIT;
static int abi, types, hold, data_file = -1;
static uint32_t word, write_index;
static long count = 10, threads = 1, children, wait_ms, pause_us, exit_status, kill_signal, outlasted;
static pid_t parent;
static const char *name = "job", *text;
static uint32_t child_number;
static unsigned long emitted;

static int is_enabled(void) { return abi ? __atomic_load_n(&word, __ATOMIC_RELAXED) != 0 : landtrace_enabled(&event); }

static int emit_types(uint32_t sequence) {
  struct {
    uint32_t index;
    int32_t change;
    float load;
    double share;
  } __attribute__((packed)) record = {write_index, (int32_t)(sequence % 5) - 2, (float)(sequence % 5) / 10, 0.25};
  struct iovec vector = {&record.change, sizeof record - sizeof record.index};
  if (abi) return write(data_file, &record, sizeof record) == sizeof record;
  return landtrace_emit(&event, &vector, 1) == 0;
}

static int emit_text(void) {
  char bytes[64] = "";
  strncpy(bytes, text, sizeof bytes - 1);
  struct iovec vector = {bytes, sizeof bytes};
  return landtrace_emit(&event, &vector, 1) == 0;
}

static int emit_long_text(uint32_t sequence) {
  enum { kCommonBytes = 8 };
  struct {
    uint32_t index, sequence, place;
    char bytes[64];
  } record = {write_index, sequence, 0, ""};
  strncpy(record.bytes, text, sizeof record.bytes - 1);
  const uint32_t size = (uint32_t)strlen(record.bytes) + 1;
  record.place = size << 16 | (kCommonBytes + 8);
  const size_t all = sizeof record - sizeof record.bytes + size;
  return write(data_file, &record, all) == (ssize_t)all;
}

static int emit(uint32_t source, uint32_t sequence) {
  if (text) return abi ? emit_long_text(sequence) : emit_text();
  if (types) return emit_types(sequence);
  struct {
    uint32_t index, source, sequence;
  } record = {write_index, source, sequence};
  if (abi) return write(data_file, &record, sizeof record) == sizeof record;
  struct iovec vector = {&record.source, 8};
  return landtrace_emit(&event, &vector, 1) == 0;
}

static long sleeps_of_parent(void) {
  char path[64], line[128];
  snprintf(path, sizeof path, "/proc/%d/status", (int)parent);
  FILE* const file = fopen(path, "r");
  if (!file) return LONG_MAX; /* it has ended */
  long sleeps = 0;
  while (fgets(line, sizeof line, file)) sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
  fclose(file);
  return sleeps;
}

static void outlast_parent(void) {
  const long before = sleeps_of_parent();
  while (sleeps_of_parent() - before < outlasted) usleep(1000);
}

static void* produce(void* number) {
  const uint32_t source = child_number * 1000 + (uint32_t)(long)number;
  unsigned long mine = 0;
  for (long i = 0; i < count; ++i) {
    if (is_enabled() && emit(source, (uint32_t)i)) ++mine;
    if (pause_us > 0) usleep((useconds_t)pause_us);
  }
  __atomic_fetch_add(&emitted, mine, __ATOMIC_RELAXED);
  if (outlasted > 0) outlast_parent();
  return NULL;
}

static int register_event(void) {
  char declaration[256];
  const char* const fields = text    ? abi ? "u32 sequence;__data_loc char[] text" : "char[64] text"
                             : types ? "s32 change;struct float load 4;struct double share 8"
                                     : "u32 source;u32 sequence";
  snprintf(declaration, sizeof declaration, "%s %s", name, fields);
  if (!abi) return landtrace_register(&event, strdup(declaration), 0);
  data_file = open("/sys/kernel/tracing/user_events_data", O_RDWR);
  struct user_reg reg = {sizeof reg, 0, sizeof word, 0, (uint64_t)&word, (uint64_t)declaration, 0};
  if (data_file < 0 || ioctl(data_file, DIAG_IOCSREG, &reg) != 0) return -1;
  write_index = reg.write_index;
  return 0;
}

static void produce_in_threads(void) {
  pthread_t ids[64];
  for (long i = 1; i < threads && i < 64; ++i) pthread_create(&ids[i], NULL, produce, (void*)i);
  produce(NULL);
  for (long i = 1; i < threads && i < 64; ++i) pthread_join(ids[i], NULL);
}

static void read_options(int argc, char** argv) {
  const struct {
    const char* option;
    long* value;
  } numbers[] = {{"--count", &count},      {"--threads", &threads},  {"--children", &children},
                 {"--wait", &wait_ms},     {"--pause", &pause_us},   {"--exit", &exit_status},
                 {"--kill", &kill_signal}, {"--outlast", &outlasted}};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--abi") == 0) abi = 1;
    if (strcmp(argv[i], "--types") == 0) types = 1;
    if (strcmp(argv[i], "--hold") == 0) hold = 1;
    if (strcmp(argv[i], "--event") == 0) name = argv[++i];
    if (strcmp(argv[i], "--text") == 0) text = argv[++i];
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
      if (strcmp(argv[i], numbers[k].option) == 0) *numbers[k].value = atol(argv[++i]);
    }
  }
}

int main(int argc, char** argv) {
  read_options(argc, argv);
  const int failed = register_event();
  if (failed != 0) {
    fprintf(stderr, "producer: registration failed: %s\n", strerror(abi ? errno : -failed));
    return 99;
  }
  while (hold) pause();
  parent = getppid();
  for (long waited = 0; waited < wait_ms && !is_enabled(); ++waited) usleep(1000);
  for (long i = 1; i <= children; ++i) {
    if (fork() == 0) {
      child_number = (uint32_t)i;
      children = 0;
      exit_status = kill_signal = 0;
      break;
    }
  }
  produce_in_threads();
  while (children > 0 && wait(NULL) > 0) {
  }
  printf("emitted %lu\n", emitted);
  fflush(stdout);
  if (kill_signal != 0) raise((int)kill_signal);
  return (int)exit_status;
}
