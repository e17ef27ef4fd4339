#include <landtrace/control.h>
#include <landtrace/landtrace.h>

static struct landtrace_event greeting = LANDTRACE_EVENT_INIT;

int main(void) {
  struct landtrace_control* control;
  if (landtrace_control_open(&control, "/nonexistent/domain.sock") >= 0 || control) return 1;
  if (landtrace_register(&greeting, "greeting u32 n", 0) != 0) return 1;
  if (landtrace_enabled(&greeting)) {
    uint32_t n = 1;
    struct iovec vector = {&n, sizeof n};
    if (landtrace_emit(&greeting, &vector, 1) != 0) return 1;
  }
  return landtrace_unregister(&greeting) == 0 ? 0 : 1;
}
