/* The structures and requests of user_events, for programs of the tests that are to be like any other program: they use
 * nothing of Landtrace, and kernel headers before 6.4 do not have them. C11 and C++. */
#ifndef LANDTRACE_TESTS_USER_EVENTS_ABI_H
#define LANDTRACE_TESTS_USER_EVENTS_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>

struct user_reg {
  uint32_t size;
  uint8_t enable_bit;
  uint8_t enable_size;
  uint16_t flags;
  uint64_t enable_addr;
  uint64_t name_args;
  uint32_t write_index;
} __attribute__((__packed__));

struct user_unreg {
  uint32_t size;
  uint8_t disable_bit, reserved;
  uint16_t reserved2;
  uint64_t disable_addr;
} __attribute__((__packed__));

#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg*)
#define DIAG_IOCSDEL _IOW('*', 1, char*)
#define DIAG_IOCSUNREG _IOW('*', 2, struct user_unreg*)

#endif
