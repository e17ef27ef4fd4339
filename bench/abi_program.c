#include "abi_program.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../tests/user_events_abi.h"

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
