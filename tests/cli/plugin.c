/* A library with an event, for programs that load it and close it again (plugin_host.c). Built twice: with our library,
 * and with PLUGIN_ABI for the kernel's interface. */
#include <stdint.h>

#ifdef PLUGIN_ABI
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../user_events_abi.h"

static int data_file;
static uint32_t word, write_index;

int plugin_start(void) {
  data_file = open("/sys/kernel/tracing/user_events_data", O_RDWR);
  struct user_reg reg = {sizeof reg, 0, sizeof word, 0, (uint64_t)&word, (uint64_t) "job u32 n", 0};
  if (data_file < 0 || ioctl(data_file, DIAG_IOCSREG, &reg) != 0) return -1;
  write_index = reg.write_index;
  return 0;
}

int plugin_emit(uint32_t n) {
  uint32_t record[] = {write_index, n};
  return write(data_file, record, sizeof record) == sizeof record ? 0 : -1;
}

void plugin_stop(void) {
  struct user_unreg unreg = {sizeof unreg, 0, 0, 0, (uint64_t)&word};
  ioctl(data_file, DIAG_IOCSUNREG, &unreg);
  close(data_file);
}

#ifdef PLUGIN_EARLY
/* Before the shim's own constructor: it is the first library to be loaded, and so the last to be started. */
__attribute__((constructor)) static void start_early(void) {
  if (plugin_start() != 0 || plugin_emit(100) != 0) _exit(60);
}
#endif

#else
#include <landtrace/landtrace.h>

static struct landtrace_event event = LANDTRACE_EVENT_INIT;

int plugin_start(void) { return landtrace_register(&event, "job u32 n", 0); }
int plugin_emit(uint32_t n) {
  struct iovec payload = {&n, sizeof n};
  return landtrace_emit(&event, &payload, 1);
}
void plugin_stop(void) { landtrace_unregister(&event); }
#endif
