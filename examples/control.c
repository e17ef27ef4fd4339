/* The control API: sets what a running domain does with an event.
 *
 *     example_control EVENT [FILTER [TRIGGER]]
 *
 *     example_control user_events:request_done 'status >= 500' 'traceoff if id == 99' */
#include <landtrace/control.h>

#include <stdio.h>
#include <string.h>

/* The text that was refused, and a caret below the place. */
static int complain(const struct landtrace_control* control, const char* text) {
  const struct landtrace_failure* failure = landtrace_control_failure(control);
  fprintf(stderr, "%s: %s\n", failure->sentence, strerror(failure->code));
  if (failure->position >= 0) fprintf(stderr, "  %s\n  %*s\n", text, failure->position + 1, "^");
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: example_control EVENT [FILTER [TRIGGER]]\n");
    return 2;
  }
  const char* const event = argv[1];
  struct landtrace_control* control;
  const int error = landtrace_control_open(&control, NULL);
  if (error != 0) {
    fprintf(stderr, "no domain: %s\n", strerror(-error));
    return 1;
  }
  int status = 0;
  char text[4096];
  if (argc > 2 && landtrace_control_set_filter(control, NULL, event, argv[2]) != 0) {
    status = complain(control, argv[2]);
  } else if (argc > 3 && landtrace_control_add_trigger(control, NULL, event, argv[3]) != 0) {
    status = complain(control, argv[3]);
  } else if (landtrace_control_enable(control, NULL, event, 1) != 0) {
    status = complain(control, event);
  } else {
    if (landtrace_control_filter(control, NULL, event, text, sizeof text) >= 0) printf("filter: %s", text);
    if (landtrace_control_triggers(control, NULL, event, text, sizeof text) >= 0) printf("triggers: %s", text);
  }
  landtrace_control_close(control);
  return status;
}
