// A library with a USDT place and its semaphore.
#include "usdt.h"

__attribute__((section(".probes"))) volatile unsigned short usdt_library_semaphore;

int usdt_library_function(int n) {
  if (usdt_library_semaphore != 0) USDT_AT("lib", "called", "usdt_library_semaphore", "-4@%0", "nor"(n));
  return n + 1;
}
