/* The trace event API: a program makes a synthetic event of its own, in any of three ways, and traces it in any of
 * three ways.
 *
 *     landtraced &
 *     example_schedtest
 *
 * It prints what the domain's trace has at the end. */
#include <landtrace/control.h>
#include <landtrace/kernel_words.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct synth_field_desc sched_fields[] = {
    {.type = "pid_t", .name = "next_pid_field"},
    {.type = "char[16]", .name = "next_comm_field"},
    {.type = "u64", .name = "ts_ns"},
    {.type = "u64", .name = "ts_ms"},
    {.type = "unsigned int", .name = "cpu"},
    {.type = "char[64]", .name = "my_string_field"},
    {.type = "int", .name = "my_int_field"},
};
#define N_FIELDS ARRAY_SIZE(sched_fields)

/* -- making it ----------------------------------------------------------------------------------------------------- */
static int create_at_once(void) { return synth_event_create("schedtest", sched_fields, N_FIELDS, THIS_MODULE); }

static int create_from_fields(void) {
  char buf[MAX_DYNEVENT_CMD_LEN];
  struct dynevent_cmd cmd;
  synth_event_cmd_init(&cmd, buf, sizeof buf);
  int ret = synth_event_gen_cmd_start(&cmd, "schedtest", THIS_MODULE, "pid_t", "next_pid_field", "char[16]",
                                      "next_comm_field");
  if (ret == 0) ret = synth_event_add_field(&cmd, "u64", "ts_ns");
  if (ret == 0) ret = synth_event_add_fields(&cmd, sched_fields + 3, 3);
  if (ret == 0) ret = synth_event_add_field_str(&cmd, "int my_int_field");
  return ret == 0 ? synth_event_gen_cmd_end(&cmd) : ret;
}

static int create_from_array(void) {
  char buf[MAX_DYNEVENT_CMD_LEN];
  struct dynevent_cmd cmd;
  synth_event_cmd_init(&cmd, buf, sizeof buf);
  const int ret = synth_event_gen_cmd_array_start(&cmd, "schedtest", THIS_MODULE, sched_fields, N_FIELDS);
  return ret == 0 ? synth_event_gen_cmd_end(&cmd) : ret;
}

/* -- tracing it ---------------------------------------------------------------------------------------------------- */
static int trace_values(struct trace_event_file* file) {
  return synth_event_trace(file, 7, (u64)getpid(), (u64) "clackers", 1000000, 1000, smp_processor_id(), (u64) "Thneed",
                           999);
}

static int trace_array(struct trace_event_file* file) {
  const u64 vals[N_FIELDS] = {777, (u64) "tiddlywinks", 1000000, 1000, smp_processor_id(), (u64) "thneed", 398};
  return synth_event_trace_array(file, vals, N_FIELDS);
}

static int trace_pieces(struct trace_event_file* file) {
  struct synth_event_trace_state state;
  int ret = synth_event_trace_start(file, &state);
  if (ret == 0) ret = synth_event_add_val("my_string_field", (u64) "thneed_9", &state);
  if (ret == 0) ret = synth_event_add_val("next_comm_field", (u64) "silly putty", &state);
  if (ret == 0) ret = synth_event_add_val("ts_ns", 1000000, &state);
  const int end = synth_event_trace_end(&state);
  return ret == 0 ? end : ret;
}

/* ------------------------------------------------------------------------------------------------------------------ */
static int use(const char* how, int (*create)(void), int (*trace)(struct trace_event_file*)) {
  int ret = create();
  if (ret == 0) {
    struct trace_event_file* const file = trace_get_event_file(NULL, "synthetic", "schedtest");
    if (IS_ERR(file)) {
      ret = (int)PTR_ERR(file);
    } else {
      ret = trace_array_set_clr_event(file->tr, "synthetic", "schedtest", true);
      if (ret == 0) ret = trace(file);
      trace_array_set_clr_event(file->tr, "synthetic", "schedtest", false);
      trace_put_event_file(file);
    }
  }
  printf("%s: %s\n", how, strerror(-ret));
  return ret != 0;
}

static void print_trace(void) {
  struct landtrace_control* control;
  static char text[65536];
  if (landtrace_control_open(&control, NULL) != 0) return;
  if (landtrace_control_read(control, "trace", text, sizeof text) >= 0) printf("%s", text);
  landtrace_control_close(control);
}

int main(void) {
  int failed = use("made at once, traced at once", create_at_once, trace_values);
  failed |= synth_event_delete("schedtest") != 0;
  failed |= use("made from fields, traced from an array", create_from_fields, trace_array);
  failed |= synth_event_delete("schedtest") != 0;
  failed |= use("made from an array, traced in pieces", create_from_array, trace_pieces);
  failed |= synth_event_delete("schedtest") != 0;
  print_trace();
  return failed;
}
