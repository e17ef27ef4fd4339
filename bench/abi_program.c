#include "abi_program.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct user_reg {
  uint32_t size;
  uint8_t enable_bit;
  uint8_t enable_size;
  uint16_t flags;
  uint64_t enable_addr;
  uint64_t name_args;
  uint32_t write_index;
} __attribute__((__packed__));

#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg*)

int abi_register(const char* declaration, uint32_t* word, int* fd) {
  return abi_register_at("/sys/kernel/tracing/user_events_data", declaration, word, fd);
}

int abi_register_at(const char* path, const char* declaration, uint32_t* word, int* fd) {
  struct user_reg reg = {sizeof reg, 0, sizeof *word, 0, (uintptr_t)word, (uintptr_t)declaration, 0};
  *fd = open(path, O_RDWR);
  if (*fd < 0) return -1;
  if (ioctl(*fd, DIAG_IOCSREG, &reg) != 0) return -1;
  return (int)reg.write_index;
}
