/* A program whose thread gives the time stamp counter up, or locks itself in, for the tests of the command line.
 *
 *   sandbox native|abi HOW WHEN [handler]
 *
 * HOW: prctl (PR_SET_TSC), syscall (the same by number), raw (without libc), strict (seccomp by prctl), strict_raw.
 * WHEN: before (it attaches) or after (three events). Three events "job u32 n" come before it where it is "after", and
 * always five behind it. With `handler` the program has a SIGSEGV handler of its own, which ends it with status 77.
 * The end is status 0 by exit(2), which is all that strict seccomp leaves. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <landtrace/landtrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../user_events_abi.h"

static struct landtrace_event event = LANDTRACE_EVENT_INIT;
static int is_abi, data_file = -1;
static uint32_t word, write_index;
/* Pages that no event has been written from before. */
static char pages[16][4096] __attribute__((aligned(4096)));

static long raw(long number, long a, long b, long c) {
  long result;
#if defined(__x86_64__)
  register long r10 __asm__("r10") = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
#else
  result = syscall(number, a, b, c, 0);
#endif
  return result;
}

static void leave(int status) { raw(SYS_exit, status, 0, 0); }

static void on_fault(int number) {
  (void)number;
  _exit(77);
}

static int attach(void) {
  const char* const declaration = "job u32 n";
  /* Without the helper, as exit(2) ends only the thread that calls it. */
  if (!is_abi) return landtrace_helper(0) != 0 ? -1 : landtrace_register(&event, declaration, 0);
  data_file = open("/sys/kernel/tracing/user_events_data", O_RDWR);
  struct user_reg reg = {sizeof reg, 0, sizeof word, 0, (uint64_t)&word, (uint64_t)declaration, 0};
  if (data_file < 0 || ioctl(data_file, DIAG_IOCSREG, &reg) != 0) return -1;
  write_index = reg.write_index;
  return 0;
}

static void emit(uint32_t n) {
  uint32_t* const record = (uint32_t*)pages[n];
  record[0] = write_index;
  record[1] = n;
  struct iovec payload = {&record[1], sizeof n};
  const int failed = is_abi ? write(data_file, record, 8) != 8 : landtrace_emit(&event, &payload, 1) != 0;
  if (failed) leave(50 + (int)n);
}

static int give_up(const char* how) {
  if (strcmp(how, "prctl") == 0) return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (strcmp(how, "syscall") == 0) return (int)syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (strcmp(how, "raw") == 0) return (int)raw(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0);
  if (strcmp(how, "strict") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
  return (int)raw(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  is_abi = strcmp(argv[1], "abi") == 0;
  const int is_before = strcmp(argv[3], "before") == 0;
  if (argc > 4) signal(SIGSEGV, on_fault);
  if (is_before && give_up(argv[2]) != 0) return 3;
  if (attach() != 0) return 4;
  for (uint32_t n = 0; !is_before && n < 3; ++n) emit(n);
  if (!is_before && give_up(argv[2]) != 0) return 3;
  for (uint32_t n = 3; n < 8; ++n) emit(n);
  leave(0);
}
