/* The trace event API, section 7.3 of the kernel's "Event Tracing", with the steps of its kprobe_event_gen_test module:
 * a program makes an event of a function's calls and one of its returns, from pieces, and switches them on. What the
 * kernel probes in itself is here a function of the program.
 *
 *     landtraced &
 *     landtrace run -- example_kprobe_event_gen_test
 *
 * It prints what the domain's trace has at the end. */
#include <landtrace/control.h>
#include <landtrace/kernel_words.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FUNC "do_sys_open"

static struct trace_event_file* gen_kprobe_test;
static struct trace_event_file* gen_kretprobe_test;

/* Of other files, so to say: a compiler that sees its calls might leave them out. */
__attribute__((noinline, used)) long do_sys_open(int dfd, const char* filename, int flags, unsigned short mode) {
  __asm__ volatile("" : : "r"(filename), "r"(flags), "r"(mode) : "memory");
  return dfd < 0 ? -ENOENT : dfd;
}

/* -- making them --------------------------------------------------------------------------------------------------- */
static int test_gen_kprobe_cmd(void) {
  struct dynevent_cmd cmd;
  char buf[MAX_DYNEVENT_CMD_LEN];

  /* Before generating the command, initialize the cmd object */
  kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);

  /* Define the event with its first two fields, the others come one step later */
  int ret = kprobe_event_gen_cmd_start(&cmd, "gen_kprobe_test", FUNC, "dfd=%di:s32", "filename=+0(%si):string");
  if (ret == 0) ret = kprobe_event_add_fields(&cmd, "flags=%dx:x32", "mode=%cx:u16");
  if (ret == 0) ret = kprobe_event_gen_cmd_end(&cmd);
  if (ret != 0) return ret;

  /* The event, to switch it on and off; as long as somebody has it, it stays */
  gen_kprobe_test = trace_get_event_file(NULL, "kprobes", "gen_kprobe_test");
  if (IS_ERR(gen_kprobe_test)) return (int)PTR_ERR(gen_kprobe_test);
  return trace_array_set_clr_event(gen_kprobe_test->tr, "kprobes", "gen_kprobe_test", true);
}

static int test_gen_kretprobe_cmd(void) {
  struct dynevent_cmd cmd;
  char buf[MAX_DYNEVENT_CMD_LEN];

  kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
  int ret = kretprobe_event_gen_cmd_start(&cmd, "gen_kretprobe_test", FUNC, "ret=$retval:s64");
  if (ret == 0) ret = kretprobe_event_gen_cmd_end(&cmd);
  if (ret != 0) return ret;

  gen_kretprobe_test = trace_get_event_file(NULL, "kprobes", "gen_kretprobe_test");
  if (IS_ERR(gen_kretprobe_test)) return (int)PTR_ERR(gen_kretprobe_test);
  return trace_array_set_clr_event(gen_kretprobe_test->tr, "kprobes", "gen_kretprobe_test", true);
}

/* -- removing them ------------------------------------------------------------------------------------------------- */
static int remove_event(struct trace_event_file* file, const char* name) {
  if (IS_ERR_OR_NULL(file)) return 0;
  /* In use as long as it is enabled */
  if (kprobe_event_delete(name) != -EBUSY) return -EEXIST;
  const int ret = trace_array_set_clr_event(file->tr, "kprobes", name, false);
  trace_put_event_file(file);
  return ret != 0 ? ret : kprobe_event_delete(name);
}

static void print_trace(void) {
  static char text[1 << 16];
  struct landtrace_control* control = NULL;
  if (landtrace_control_open(&control, NULL) != 0) return;
  const ssize_t size = landtrace_control_read(control, "trace", text, sizeof text - 1);
  landtrace_control_close(control);
  if (size < 0) return;
  text[size] = '\0';
  for (const char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (line[0] != '#') puts(line);
  }
}

static int check(const char* what, int ret) {
  if (ret != 0) fprintf(stderr, "%s: %s\n", what, strerror(-ret));
  return ret != 0;
}

int main(void) {
  int failed = check("gen_kprobe_test", test_gen_kprobe_cmd());
  failed += check("gen_kretprobe_test", test_gen_kretprobe_cmd());
  if (failed == 0) {
    do_sys_open(7, "/etc/passwd", 0x8000, 0644);
    do_sys_open(-1, "no/such/file", 0x241, 0600);
  }
  failed += check("removing gen_kprobe_test", remove_event(gen_kprobe_test, "gen_kprobe_test"));
  failed += check("removing gen_kretprobe_test", remove_event(gen_kretprobe_test, "gen_kretprobe_test"));
  print_trace();
  return failed != 0;
}
