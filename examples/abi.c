/* A program that emits through the kernel's user_events, as the kernel's document describes it:
 * https://docs.kernel.org/trace/user_events.html. It links nothing but libc.
 *
 *     example_abi [EVENTS [DELAY_MICROSECONDS]]      (100 events, 10 ms apart)
 *
 * $TRACEFS names the folder of user_events_data where it is not /sys/kernel/tracing. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<linux/user_events.h>)
#include <linux/user_events.h>
#endif
#endif

#ifndef DIAG_IOCSREG /* kernel headers before 6.4 */
struct user_reg {
  uint32_t size;       /* of this structure */
  uint8_t enable_bit;  /* bit of the enable word */
  uint8_t enable_size; /* of the enable word: 4 or 8 */
  uint16_t flags;
  uint64_t enable_addr;
  uint64_t name_args;   /* the declaration */
  uint32_t write_index; /* answer */
} __attribute__((__packed__));

struct user_unreg {
  uint32_t size;
  uint8_t disable_bit;
  uint8_t __reserved;
  uint16_t __reserved2;
  uint64_t disable_addr;
} __attribute__((__packed__));

#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg*)
#define DIAG_IOCSUNREG _IOW('*', 2, struct user_unreg*)
#endif

/* The payload, in the order of the declaration and without padding. */
struct request {
  uint32_t id;
  int32_t status;
  uint64_t duration_ns;
} __attribute__((__packed__));

static uint32_t enabled; /* bit 0 is the kernel's */

static int open_data(void) {
  const char* tracefs = getenv("TRACEFS");
  char path[4096];
  snprintf(path, sizeof path, "%s/user_events_data", tracefs ? tracefs : "/sys/kernel/tracing");
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) fprintf(stderr, "example_abi: %s: %s\n", path, strerror(errno));
  return fd;
}

static int register_event(int fd, const char* declaration, uint32_t* write_index) {
  struct user_reg reg = {0};
  reg.size = sizeof reg;
  reg.enable_bit = 0;
  reg.enable_size = sizeof enabled;
  reg.enable_addr = (uintptr_t)&enabled;
  reg.name_args = (uintptr_t)declaration;
  if (ioctl(fd, DIAG_IOCSREG, &reg) != 0) {
    fprintf(stderr, "example_abi: DIAG_IOCSREG: %s\n", strerror(errno));
    return -1;
  }
  *write_index = reg.write_index;
  return 0;
}

static void unregister_event(int fd) {
  struct user_unreg unreg = {0};
  unreg.size = sizeof unreg;
  unreg.disable_addr = (uintptr_t)&enabled;
  if (ioctl(fd, DIAG_IOCSUNREG, &unreg) != 0) perror("example_abi: DIAG_IOCSUNREG");
}

static int emit(int fd, uint32_t write_index, const struct request* request) {
  struct iovec io[2] = {{&write_index, sizeof write_index}, {(void*)request, sizeof *request}};
  return writev(fd, io, 2) == (ssize_t)(sizeof write_index + sizeof *request) ? 0 : -1;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 100;
  const long delay_us = argc > 2 ? atol(argv[2]) : 10000;
  long written = 0, skipped = 0, failed = 0;
  uint32_t write_index;

  int fd = open_data();
  if (fd < 0 || register_event(fd, "abi_request u32 id;s32 status;u64 duration_ns", &write_index) != 0) return 1;
  for (long i = 0; i < count; ++i) {
    const struct request request = {(uint32_t)i, i % 10 == 9 ? -1 : 0, (uint64_t)i * 1000};
    if ((*(volatile uint32_t*)&enabled & 1) == 0) {
      ++skipped; /* nobody listens: no system call */
    } else if (emit(fd, write_index, &request) == 0) {
      ++written;
    } else {
      ++failed;
    }
    const struct timespec delay = {delay_us / 1000000, delay_us % 1000000 * 1000};
    if (delay_us > 0) nanosleep(&delay, NULL);
  }
  unregister_event(fd);
  close(fd);
  printf("%ld written, %ld while nobody listened, %ld failed\n", written, skipped, failed);
  return failed == 0 ? 0 : 1;
}
