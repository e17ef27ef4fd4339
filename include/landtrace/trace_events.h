/* Landtrace, the trace event API in C: what section 7 of the kernel's "Event Tracing" offers to code inside the
 * kernel, for programs. Synthetic events are made, by one call or piece by piece, and traced; so are probes of
 * functions, which happen by themselves; instances are made and events switched on in them; and the dynevent_cmd layer
 * below puts commands together. Names, order of arguments and return values are the document's, so that its code
 * compiles with <landtrace/kernel_words.h>, but for how it allocates memory.
 *
 *     static struct synth_field_desc fields[] = {{"pid_t", "worker"}, {"char[16]", "job"}, {"u64", "took_ns"}};
 *     synth_event_create("job_done", fields, 3, NULL);
 *     struct trace_event_file* file = trace_get_event_file(NULL, "synthetic", "job_done");
 *     trace_array_set_clr_event(file->tr, "synthetic", "job_done", true);
 *     synth_event_trace(file, 3, gettid(), (landtrace_u64)"resize", 1200000);
 *
 * The domain is the one that $LANDTRACE_SOCKET names, else the user's own, as for <landtrace/landtrace.h>. Calls that
 * make and switch things ask its owner and wait for the answer: thread-safe, not async-signal-safe. Calls that trace
 * do so in the calling thread, with system calls only as landtrace_emit(): thread-safe, and where it is said
 * async-signal-safe.
 *
 * Functions return 0 or a negative errno, those that return a pointer the pointer or a negative errno in its place, see
 * landtrace_is_err(). Besides what each says:
 *   -ENOENT, -ECONNREFUSED  there is no domain
 *   -EPIPE                  its owner ended meanwhile
 *   -EACCES                 only the user who runs the domain and its group may change it */
#ifndef LANDTRACE_TRACE_EVENTS_H
#define LANDTRACE_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef LANDTRACE_BUILDS_SHARED /* what the shared library exports */
#pragma GCC visibility push(default)
#endif

/* The document's other words (u64, ARRAY_SIZE, THIS_MODULE, ERR_PTR(), IS_ERR(), smp_processor_id() ...) are in
 * <landtrace/kernel_words.h>, for code that wants them: here they would clash with a program's own. */
typedef unsigned long long landtrace_u64;
unsigned landtrace_this_cpu(void); /* async-signal-safe */

/* A pointer that is a negative errno. */
static inline void* landtrace_err_ptr(long error) { return (void*)error; }
static inline long landtrace_ptr_err(const void* pointer) { return (long)pointer; }
static inline bool landtrace_is_err(const void* pointer) { return (uintptr_t)pointer > (uintptr_t)-4096; }
static inline bool landtrace_is_err_or_null(const void* pointer) {
  return pointer == NULL || landtrace_is_err(pointer);
}

struct module; /* has no meaning here: pass NULL */

/* -- commands (7.4) ------------------------------------------------------------------------------------------------ */

#define MAX_DYNEVENT_CMD_LEN 2048 /* what a command's buffer usually has, its NUL included */

/* The calls that a command is for; they check it. Other numbers are for a program's own types. */
enum dynevent_type { DYNEVENT_TYPE_SYNTH = 1, DYNEVENT_TYPE_KPROBE, DYNEVENT_TYPE_NONE };

struct dynevent_cmd;
typedef int (*dynevent_create_fn_t)(struct dynevent_cmd* cmd);
/* Gets the struct dynevent_arg or dynevent_arg_pair; 0, or what the call that adds it returns. */
typedef int (*dynevent_check_arg_fn_t)(void* data);

/* A command that grows in its caller's buffer. The members are read only; `buffer` always ends with a NUL. */
struct dynevent_cmd {
  char* buffer;
  int length;
  int maxlen;
  const char* event_name;
  unsigned n_fields;
  int type; /* enum dynevent_type, or another */
  dynevent_create_fn_t run_command;
  void* private_data; /* the callers' */
};

struct dynevent_arg {
  const char* str;
  dynevent_check_arg_fn_t check_arg;
  char separator;
};

struct dynevent_arg_pair {
  const char* lhs;
  const char* rhs;
  dynevent_check_arg_fn_t check_arg;
  char op; /* between the two */
  char separator;
};

/* An empty command of `type` in `buf`, which has `maxlen` bytes and stays the caller's. `run_command` runs it. */
void dynevent_cmd_init(struct dynevent_cmd* cmd, char* buf, int maxlen, int type, dynevent_create_fn_t run_command);

/* `check_arg` may be NULL; where a separator or operator is 0 it is a blank. */
void dynevent_arg_init(struct dynevent_arg* arg, dynevent_check_arg_fn_t check_arg, char separator);
void dynevent_arg_pair_init(struct dynevent_arg_pair* arg_pair, dynevent_check_arg_fn_t check_arg, char op,
                            char separator);

/* Append a blank, the argument and its separator, or " LHS OP RHS SEPARATOR" without blanks but the first; or a text
 * as it is.
 *   -EINVAL  a text is NULL
 *   -E2BIG   the command has no room for it, and stays as it was
 *   else     what check_arg() returned */
int dynevent_arg_add(struct dynevent_cmd* cmd, struct dynevent_arg* arg);
int dynevent_arg_pair_add(struct dynevent_cmd* cmd, struct dynevent_arg_pair* arg_pair);
int dynevent_str_add(struct dynevent_cmd* cmd, const char* str);

/* Carries the command out: returns what run_command() does. */
int dynevent_create(struct dynevent_cmd* cmd);

/* -- making synthetic events (7.1) --------------------------------------------------------------------------------- */

#define SYNTH_FIELDS_MAX 64 /* fields of an event */

struct synth_field_desc {
  const char* type; /* as synthetic_events takes it: "u64", "pid_t", "char[16]", "char[]", "long[]", ... */
  const char* name; /* with [N] or [] behind it an array */
};

/* Makes or removes an event in one step. `mod` is not used.
 *   -EINVAL  a field without type or name, more than SYNTH_FIELDS_MAX, or what synthetic_events refuses (its error_log
 *            says why)
 *   -E2BIG   the definition is longer than MAX_DYNEVENT_CMD_LEN
 *   -EEXIST  there is one of that name
 *   -ENOENT  (delete) there is none
 *   -EBUSY   (delete) it is enabled in an instance (a recorder's session is none), has triggers, is part of a
 *            histogram's action, or somebody has its trace_event_file */
int synth_event_create(const char* name, struct synth_field_desc* fields, unsigned n_fields, struct module* mod);
int synth_event_delete(const char* event_name);

/* The same in steps: a command for the calls below, begun with some fields, continued, and carried out by the last of
 * them, which returns what synth_event_create() does. Each of them:
 *   -EINVAL  the command is of another type, a text is NULL, a type lacks its name, or there are too many fields
 *   -E2BIG   the command has no room for it */
void synth_event_cmd_init(struct dynevent_cmd* cmd, char* buf, int maxlen);
/* synth_event_gen_cmd_start(cmd, name, mod, "type", "name", ...) */
#define synth_event_gen_cmd_start(cmd, name, ...) \
  landtrace_synth_event_gen_cmd_start((cmd), (name), __VA_ARGS__, (const char*)0)
int landtrace_synth_event_gen_cmd_start(struct dynevent_cmd* cmd, const char* name, struct module* mod, ...);
int synth_event_gen_cmd_array_start(struct dynevent_cmd* cmd, const char* name, struct module* mod,
                                    struct synth_field_desc* fields, unsigned n_fields);
int synth_event_add_field(struct dynevent_cmd* cmd, const char* type, const char* name);
int synth_event_add_fields(struct dynevent_cmd* cmd, struct synth_field_desc* fields, unsigned n_fields);
int synth_event_add_field_str(struct dynevent_cmd* cmd, const char* type_name);
int synth_event_gen_cmd_end(struct dynevent_cmd* cmd);

/* -- making probes (7.3) ------------------------------------------------------------------------------------------- */

/* Events of a function's calls or returns, in the group `kprobes`: programs are to the domain what a kernel is to
 * itself. `loc` is a function as kprobe_events takes it: of the calling program, or of another one of the domain
 * ("do_sys_open"), or of a library or program by its name ("libc:openat", "server:handle_request"), which is waited for
 * if there is none yet; with +OFFSET a place in it. A field is "NAME=FETCH[:TYPE]": "dfd=%di:s32",
 * "filename=+0(%si):string", "ret=$retval".
 * A command is begun with some fields, continued, and carried out by the last call. Each of them:
 *   -EINVAL  the command is of another type, a text is NULL, or there are more than 128 fields
 *   -E2BIG   the command has no room for it
 * The last one besides, and the domain's error_log says where the mistake is:
 *   -EINVAL  there is no such function, a field is none, a return is not asked for at the beginning of a function
 *   -EEXIST  there is an event of that name which differs in its fields or kind, or has the same place already: another
 *            place with the same fields is added to it
 *   -EPERM   a guest of the domain asks (docs/architecture.md) */
void kprobe_event_cmd_init(struct dynevent_cmd* cmd, char* buf, int maxlen);
/* kprobe_event_gen_cmd_start(cmd, name, loc, "field", ...) */
#define kprobe_event_gen_cmd_start(cmd, name, ...) \
  landtrace_kprobe_event_gen_cmd_start((cmd), false, (name), __VA_ARGS__, (const char*)0)
#define kretprobe_event_gen_cmd_start(cmd, name, ...) \
  landtrace_kprobe_event_gen_cmd_start((cmd), true, (name), __VA_ARGS__, (const char*)0)
int landtrace_kprobe_event_gen_cmd_start(struct dynevent_cmd* cmd, bool kretprobe, const char* name, const char* loc,
                                         ...);
/* kprobe_event_add_fields(cmd, "field", ...) */
#define kprobe_event_add_fields(cmd, ...) landtrace_kprobe_event_add_fields((cmd), __VA_ARGS__, (const char*)0)
int landtrace_kprobe_event_add_fields(struct dynevent_cmd* cmd, ...);
#define kprobe_event_add_field(cmd, field) kprobe_event_add_fields(cmd, field)
#define kprobe_event_gen_cmd_end(cmd) dynevent_create(cmd)
#define kretprobe_event_gen_cmd_end(cmd) dynevent_create(cmd)
/* Removes the event, with all its places.
 *   -ENOENT  there is none
 *   -EBUSY   it is enabled in an instance (a recorder's session is none), has triggers, or somebody has its
 *            trace_event_file */
int kprobe_event_delete(const char* name);

/* -- instances and what is enabled in them ------------------------------------------------------------------------- */

/* An instance. Getting it keeps it from being removed until it is put; the pointer is valid until it is destroyed. */
struct trace_array;
/* The instance of that name, which is made if need be; NULL: that failed. */
struct trace_array* trace_array_get_by_name(const char* name);
void trace_array_put(struct trace_array* tr);
/* Removes it. -EBUSY: somebody has it (put it before), or a file of it is open. -EINVAL: the top one. -ENODEV: it is
 * gone. */
int trace_array_destroy(struct trace_array* tr);
/* Switches an event on or off, or with NULL for `event` all of the system. A probe that is switched on happens from
 * here on in the calling program, and in others a moment later. -EINVAL: there is none, -ENOENT: `tr` is NULL. */
int trace_array_set_clr_event(struct trace_array* tr, const char* system, const char* event, bool enable);

/* An event in an instance. */
struct trace_event_file {
  struct trace_array* tr;
};
/* `instance` NULL: the top one. The event and the instance stay until the file is put. -ENOENT: there is no
 * such instance, -EINVAL: no such event, -ENOMEM. */
struct trace_event_file* trace_get_event_file(const char* instance, const char* system, const char* event);
void trace_put_event_file(struct trace_event_file* file);

/* -- tracing synthetic events (7.2) -------------------------------------------------------------------------------- */

/* An event at once, in the instance of its file and in all recordings (landtrace record) that listen to it; one value
 * a field, in order, a text as its address. A text longer than a char[N] field is cut; a long[] field takes the address
 * of up to 16 words that end with 0. An event that nobody listens to is no error. Async-signal-safe once the calling
 * thread has traced something.
 *   -EINVAL  `file` is not of a synthetic event, `n_vals` is not the number of its fields or of the values, a text is
 *            NULL
 *   -E2BIG   the entry is larger than one can be, or has over 63 dynamic fields
 *   -EAGAIN  the thread has no place in the domain (thousands of threads) */
int synth_event_trace_array(struct trace_event_file* file, const landtrace_u64* vals, unsigned n_vals);
#ifndef __cplusplus
/* synth_event_trace(file, n_vals, ...) */
#define synth_event_trace(file, n_vals, ...)                                          \
  landtrace_synth_event_trace((file), (n_vals), (const landtrace_u64[]){__VA_ARGS__}, \
                              sizeof((const landtrace_u64[]){__VA_ARGS__}) / sizeof(landtrace_u64))
#endif
int landtrace_synth_event_trace(struct trace_event_file* file, unsigned n_vals, const landtrace_u64* vals,
                                size_t given);

/* An event piece by piece, its values in order or by name, not both. Events with char[] or long[] fields cannot be
 * traced so. The state is the caller's, and for one thread. Fields that are not set are 0. If nobody listens, the
 * calls return 0 and do nothing. */
#define LANDTRACE_SYNTH_ROOM 2048
struct synth_event_trace_state {
  struct trace_event_file* file;
  unsigned char* entry; /* `room`, or memory of its own if that is too small */
  unsigned next_field;
  bool is_open;
  bool disabled;
  bool add_next;
  bool add_name;
  landtrace_u64 room[LANDTRACE_SYNTH_ROOM / sizeof(landtrace_u64)];
};
/* -EINVAL as above, or the event has dynamic fields; -ENOMEM. Every start needs its end, whatever fails between them.
 */
int synth_event_trace_start(struct trace_event_file* file, struct synth_event_trace_state* trace_state);
/* -EINVAL: no field is left, or the other kind of adding was begun, or a text is NULL, or the trace was not started */
int synth_event_add_next_val(landtrace_u64 val, struct synth_event_trace_state* trace_state);
int synth_event_add_val(const char* field_name, landtrace_u64 val, struct synth_event_trace_state* trace_state);
/* The event happens. -EINVAL: it was not started; else as synth_event_trace_array(). */
int synth_event_trace_end(struct synth_event_trace_state* trace_state);

#ifdef LANDTRACE_BUILDS_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}

/* synth_event_trace(file, n_vals, ...) */
template <typename... Values>
[[gnu::always_inline]] inline int synth_event_trace(trace_event_file* file, unsigned n_vals, Values... values) {
  const landtrace_u64 vals[] = {(landtrace_u64)values..., 0};
  return landtrace_synth_event_trace(file, n_vals, vals, sizeof...(values));
}
#endif

#endif
